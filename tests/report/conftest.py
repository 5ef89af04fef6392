"""Labeled tables, fitted once. What they need comes with the extra `label`, without which other tests here run."""

from dataclasses import replace

import numpy as np
import pytest


@pytest.fixture(scope="session")
def labeled(tmp_path_factory):
    """Plants with a label that is wrong, and a column that says nothing."""
    from semikpca.tables import ColumnRoles, read_table
    from semikpca.workflow import label_table
    from small_tables import make_plants

    frame, _ = make_plants(120, 36)
    wrong = np.flatnonzero(frame["kind"] == "palm")[0]
    frame.loc[wrong, "kind"] = "fern"
    frame["same"] = "1"
    path = tmp_path_factory.mktemp("plants") / "plants.csv"
    frame.to_csv(path, index=False)
    return label_table(read_table(path), ColumnRoles("kind", id="plant"))


@pytest.fixture(scope="session")
def view(labeled):
    """What the report on them shows."""
    from labeled_tables import COMMAND, CREATED, view_of

    return view_of(labeled, command=COMMAND, created=CREATED)


@pytest.fixture(scope="session")
def hostile():
    """Every text that a user can choose is markup: file, columns, classes, cells."""
    from labeled_tables import CELL, fitted
    from semikpca.tables import ColumnRoles
    from small_tables import make_plants

    frame, _ = make_plants(90, 45)
    frame.loc[frame["kind"] == "palm", "kind"] = CELL
    low = frame[(frame["kind"] == "fern") & (frame["height"] != "") & (frame["place"] == "bog")]
    frame.loc[low["height"].astype(float).idxmin(), "kind"] = CELL  # as clearly wrong as can be
    frame["plant"] += CELL
    frame["note"] = [f"{CELL} {number} in many words" for number in range(len(frame))]
    frame = frame.rename(columns={"kind": f"kind{CELL}", "plant": f"plant{CELL}", "note": f"note{CELL}"})
    roles = ColumnRoles(f"kind{CELL}", id=f"plant{CELL}", text=(f"note{CELL}",))
    labels = np.array([label or None for label in frame[roles.label]], dtype=object)
    found = fitted(frame, labels, roles, name="plants<b>.csv")
    return replace(found, warnings=(CELL,))
