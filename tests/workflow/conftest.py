"""Tables that the tests of the workflow share: small, seeded, fitted once."""

import numpy as np
import pandas as pd
import pytest

from semikpca.tables import ColumnRoles, Table, read_table
from semikpca.workflow import LabelingOptions, label_table
from small_tables import make_plants


@pytest.fixture(scope="session")
def plants(tmp_path_factory):
    """The table in a file, and the kind of each row."""
    frame, names = make_plants()
    path = tmp_path_factory.mktemp("plants") / "plants.csv"
    frame.to_csv(path, index=False)
    return path, names


@pytest.fixture(scope="session")
def labeled_plants(plants):
    return label_table(read_table(plants[0]), ColumnRoles("kind", id="plant"))


def table_of(X, labels, **columns):
    """Return a table of numbers with a label column, without a file."""
    frame = pd.DataFrame({f"x{number}": column for number, column in enumerate(np.asarray(X, dtype=float).T)})
    frame = frame.assign(**columns, label=pd.Series(list(labels), dtype=object))
    return Table(frame, frame, None, "parquet")


@pytest.fixture(scope="session")
def label_numbers():
    """A function from rows and labels to a labeled table, with options."""

    def run(X, labels, **options):
        return label_table(table_of(X, labels), ColumnRoles("label"), LabelingOptions(**options))

    return run
