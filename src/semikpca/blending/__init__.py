"""Several answers to the same labels: sources of candidates, the fit of each to the labels, its weight, the blend."""

from semikpca.blending._agreement import NeighborAgreement
from semikpca.blending._blend import Blend, BlendSettings, Part, Total, no_report
from semikpca.blending._candidates import candidate_log_weights, left_out_losses, normalized_weights
from semikpca.blending._label_fit import LabelSystem
from semikpca.blending._sources import (
    NO_COLUMNS,
    Columns,
    PlainSource,
    ResponseSource,
    Source,
    sources_of,
)

__all__ = [
    "NO_COLUMNS",
    "Blend",
    "BlendSettings",
    "Columns",
    "LabelSystem",
    "NeighborAgreement",
    "Part",
    "PlainSource",
    "ResponseSource",
    "Source",
    "Total",
    "candidate_log_weights",
    "left_out_losses",
    "no_report",
    "normalized_weights",
    "sources_of",
]
