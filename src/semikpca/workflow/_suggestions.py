"""Rows to label next: the same on the page and on the command line, and why each of them."""

from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.labeling import suggest_labels

# Rows that are weighed against each other. Each costs a column of every kernel, whose length is the number of rows;
# with this many in all, a list is there before one has read the row that was labeled. More of them do not make better
# suggestions: decisions/0036.
_FEWEST_CANDIDATES, _MOST_CANDIDATES, _CANDIDATE_ENTRIES = 16, 64, 200_000
_DOUBTFUL = 0.6  # a confidence below it


def suggested_rows(model: Any, n: int, *, check_rows: int = 0, random_state: int = 0) -> IntArray:
    """Return rows to label next, best first, each telling something else; the last ``check_rows`` drawn at random."""
    n_rows = len(model.transduction_)
    most = max(_FEWEST_CANDIDATES, min(_MOST_CANDIDATES, _CANDIDATE_ENTRIES // n_rows))
    return suggest_labels(model, n, check_rows=check_rows, max_candidates=most, random_state=random_state)


def why_suggested(confidence: FloatArray) -> list[str]:
    """Return in a few words why rows were suggested, by how sure the model is of each.

    Suggested is what is expected to change most. That is a doubt in the row itself, or else what hangs on it.

    Examples
    --------
    >>> why_suggested(np.array([0.4, 0.8]))
    ['doubtful', 'stands for many']
    """
    return ["doubtful" if sure < _DOUBTFUL else "stands for many" for sure in np.asarray(confidence)]
