"""What a download says of each row: predictions, and the labels that were accepted in their place."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from semikpca.labeling import AcceptedLabels
from semikpca.tables import label_columns
from semikpca.workflow import LabeledTable


def answer_columns(
    labeled: LabeledTable, accepted: Mapping[int, Any], can_be_accepted: AcceptedLabels | None
) -> dict[str, Any]:
    """Return the columns that a table gets.

    A label that was accepted stands in the place of the prediction, with the probability that it has now: the label
    column keeps what people have said, so that a table that is opened again is learned from as it was. Where nobody has
    accepted anything, the last column says what can be accepted, once that is found out.
    """
    predicted, confidence = labeled.predicted.copy(), labeled.confidence.copy()
    flags = None if can_be_accepted is None else labeled.is_accepted(can_be_accepted)
    if accepted:
        rows = np.array(sorted(accepted))
        chances = np.asarray(labeled.model.decision_probabilities(labeled.decision[rows]))
        places = {label: place for place, label in enumerate(labeled.model.classes_.tolist())}
        for row, chance in zip(rows.tolist(), chances, strict=True):
            predicted[row] = accepted[row]
            # A class may have lost its last label since.
            confidence[row] = chance[places[accepted[row]]] if accepted[row] in places else np.nan
        flags = np.isin(np.arange(len(predicted)), rows)
    return label_columns(predicted, confidence, labeled.is_given, labeled.looks_wrong, flags)
