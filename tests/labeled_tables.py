"""Labeled tables that the tests of their report share, and what its pages are made of."""

import warnings
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from semikpca.exceptions import SingleClassWarning
from semikpca.report import label_view
from semikpca.tables import Table
from semikpca.workflow import AccuracyEstimate, LabeledTable, LabelingOptions, row_map
from semikpca.workflow._label import fit_vectorizer

VERSIONS = {"semikpca": "0.1.0", "numpy": "2.1.0"}
SCRIPTS = {"plotly": "var Plotly = {};\r\n", "map": "void 0;\n"}
CREATED = datetime(2026, 11, 15, 18, 30, tzinfo=UTC)
COMMAND = "semikpca label plants.csv --label-column kind"
CELL = "<script>window.hit=1</script><img src=x onerror=window.hit=1>\"'&amp;<!--\u2028</script>"


def table_of(frame, name="plants.csv"):
    return Table(frame, frame.replace("", None), Path(name), "csv", {"delimiter": ",", "encoding": "utf-8"})


def fitted(frame, labels, roles, name="plants.csv"):
    """Return a labeled table whose labels need not pass the checks of a file: one class will do."""
    table = table_of(frame, name)
    vectorizer = fit_vectorizer(table, roles)
    X = vectorizer.transform(table.features)
    model = LabelingOptions().classifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SingleClassWarning)
        model.fit(X, labels)
    return LabeledTable(table, roles, LabelingOptions(), vectorizer, X, model, ())


def make_blobs(n_classes, n_rows=150, n_labels=60):
    """Return rows around as many centers, and a label for some of them."""
    generator = np.random.default_rng(3)
    code = np.arange(n_rows) % n_classes
    X = 5 * generator.standard_normal((n_classes, 4))[code] + generator.standard_normal((n_rows, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label="")
    labels = np.full(n_rows, None, dtype=object)
    labels[:n_labels] = [f"class {value}" for value in code[:n_labels]]
    return frame, labels


def view_of(labeled, **options):
    return label_view(
        labeled, row_map(labeled.X), options.pop("suggestions", labeled.suggestions(5)), versions=VERSIONS, **options
    )


def with_estimates(labeled, estimate, baseline):
    """Return the same labeled table with other counts of labels that were found again."""
    changed = replace(labeled)
    vars(changed).update(estimate=AccuracyEstimate.of(*estimate), baseline=AccuracyEstimate.of(*baseline))
    return changed
