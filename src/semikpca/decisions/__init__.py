"""From decisions to labels: which rows a label reaches, the shares of the classes, and probabilities."""

from semikpca.decisions._probability import (
    decided_codes,
    decided_probabilities,
    learn_sharpness,
    matching_sharpness,
    rows_to_leave_out,
    says_nothing,
    typical_margin,
)
from semikpca.decisions._reach import Reach, joined_components
from semikpca.decisions._shares import expected_shares, prior_offsets, resolve_prior

__all__ = [
    "Reach",
    "decided_codes",
    "decided_probabilities",
    "expected_shares",
    "joined_components",
    "learn_sharpness",
    "matching_sharpness",
    "prior_offsets",
    "resolve_prior",
    "rows_to_leave_out",
    "says_nothing",
    "typical_margin",
]
