"""What to do next: which rows to label, and which labels to look at again."""

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from semikpca._typing import FloatArray, IntArray
from semikpca.app._snapshot import Advice, Doubt
from semikpca.labeling import audit_labels, suggest_labels

_SUGGESTED = 8
# Rows that are weighed against each other for a suggestion. Each costs a column of every kernel, whose length is the
# number of rows; with this many in all, the lists are there before one has read the row that was clicked.
_FEWEST_CANDIDATES, _MOST_CANDIDATES, _CANDIDATE_ENTRIES = 16, 64, 200_000
_ROWS_FOR_GROUPS = 5_000


def advice_of(revision: int, model: Any) -> Advice:
    """Return the advice that belongs to a fitted model."""
    n_rows = len(model.label_coding_.codes)
    most = max(_FEWEST_CANDIDATES, min(_MOST_CANDIDATES, _CANDIDATE_ENTRIES // n_rows))
    rows = suggest_labels(model, _SUGGESTED, max_candidates=most)
    audit = audit_labels(model)
    columns = (audit.rows, audit.given, audit.suggested, audit.suspicion)
    doubtful = (column[audit.looks_wrong].tolist() for column in columns)
    doubts = tuple(Doubt(*doubt) for doubt in zip(*doubtful, strict=True))
    return Advice(revision, tuple(rows.tolist()), doubts)


def first_advice(revision: int, X: FloatArray, unlabeled: IntArray) -> Advice:
    """Return rows to begin with, where nothing can be predicted yet: one from the middle of each group of rows."""
    if len(unlabeled) <= _SUGGESTED:
        return Advice(revision, tuple(unlabeled.tolist()), ())
    sample = np.sort(np.random.default_rng(0).permutation(unlabeled)[:_ROWS_FOR_GROUPS])
    groups = KMeans(_SUGGESTED, n_init=1, random_state=0).fit(X[sample])
    middles = sample[groups.transform(X[sample]).argmin(axis=0)]
    sizes = np.bincount(groups.labels_, minlength=_SUGGESTED)
    in_order = middles[np.argsort(-sizes, kind="stable")].tolist()
    return Advice(revision, tuple(dict.fromkeys(in_order)), ())
