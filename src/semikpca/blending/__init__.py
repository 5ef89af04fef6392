"""Several answers to the same labels: fit each to the labels, weigh them, and settle the shares of the classes."""

from semikpca.blending._agreement import NeighborAgreement
from semikpca.blending._label_fit import LabelFit, LabelSystem
from semikpca.blending._shares import expected_shares
from semikpca.blending._weights import candidate_log_weights, left_out_losses, normalized_weights

__all__ = [
    "LabelFit",
    "LabelSystem",
    "NeighborAgreement",
    "candidate_log_weights",
    "expected_shares",
    "left_out_losses",
    "normalized_weights",
]
