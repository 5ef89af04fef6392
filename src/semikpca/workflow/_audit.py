"""Why a given label looks wrong."""

import numpy as np
import pandas as pd

from semikpca.labeling import leave_one_label_out
from semikpca.workflow._labeled import LabeledTable


def audit_frame(labeled: LabeledTable, *, n_nearest: int = 3) -> pd.DataFrame:
    """Return the given labels, most suspicious first, with what speaks against each.

    Returns
    -------
    DataFrame
        ``row`` (from 0), ``given``, ``suggested`` (what the other labels call the row), ``suspicion`` (the probability
        that the label is wrong; NaN where the others know nothing of it), ``suggested_probability``, ``looks_wrong``,
        and ``nearest``: numbers of the rows with the suggested label that are nearest, a tuple.
    """
    audit, model = labeled.audit, labeled.model
    left_out = leave_one_label_out(model)
    likeliest = model.decision_probabilities(left_out.decision).max(axis=1)
    place = np.searchsorted(left_out.rows, audit.rows)
    frame: pd.DataFrame = audit.to_frame()  # type: ignore[no-untyped-call]  # labeling has no types
    frame["suggested_probability"] = np.where(np.isnan(audit.suspicion), np.nan, likeliest[place])
    frame["looks_wrong"] = labeled.looks_wrong[audit.rows]
    frame["nearest"] = [
        tuple(int(near) for near in labeled.nearest_labeled(int(row), label, n_nearest))
        for row, label in zip(audit.rows, audit.suggested, strict=True)
    ]
    return frame[["row", "given", "suggested", "suspicion", "suggested_probability", "looks_wrong", "nearest"]]
