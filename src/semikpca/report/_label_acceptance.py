"""Which labels can be accepted unseen, as plain data: accepted shares over error rates, with the chosen point."""

from typing import Any

import numpy as np

from semikpca.labeling import AcceptedLabels
from semikpca.workflow import LabeledTable, accepted_in_words

_RATES = np.round(np.arange(0.005, 0.2001, 0.005), 4)
_TICKS = (0.0, 0.05, 0.1, 0.15, 0.2)


def acceptance_view(labeled: LabeledTable, accepted: AcceptedLabels) -> dict[str, Any]:
    """Return the sentence on accepted labels, the curve in percent, and the chosen point on it."""
    n_accepted, n_left = int(labeled.is_accepted(accepted).sum()), len(labeled.to_review(accepted))
    highest = max(_TICKS[-1], accepted.error_rate)
    rates = np.unique(np.append(_RATES[highest >= _RATES], accepted.error_rate))
    shares = labeled.acceptance.shares(rates, accepted.confidence)
    n_rows = max(1, accepted.n_unlabeled)
    return {
        "sentence": f"{accepted_in_words(accepted, n_accepted)}.",
        "n_accepted": n_accepted,
        "n_to_review": n_left,
        "n_labels": accepted.n_labels,
        "confidence": 100 * accepted.confidence,
        "chosen": {"rate": 100 * accepted.error_rate, "share": 100 * n_accepted / n_rows},
        "highest_rate": 100 * highest,
        "ticks": [100 * tick for tick in _TICKS],
        "curve": [
            {"rate": 100 * float(rate), "share": 100 * float(share)} for rate, share in zip(rates, shares, strict=True)
        ],
    }
