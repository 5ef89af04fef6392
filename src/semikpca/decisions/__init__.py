"""From decisions to labels: which rows a label reaches, the shares of the classes, and probabilities."""

from semikpca.decisions._class_prior import prior_offsets, resolve_prior
from semikpca.decisions._probability import (
    MAX_LEFT_OUT,
    learn_sharpness,
    probabilities,
    rows_to_leave_out,
    typical_margin,
)
from semikpca.decisions._reach import Reach, joined_components
from semikpca.decisions._rule import decided_codes, decided_probabilities
from semikpca.decisions._shares import expected_shares

__all__ = [
    "MAX_LEFT_OUT",
    "Reach",
    "decided_codes",
    "decided_probabilities",
    "expected_shares",
    "joined_components",
    "learn_sharpness",
    "prior_offsets",
    "probabilities",
    "resolve_prior",
    "rows_to_leave_out",
    "typical_margin",
]
