"""Several answers to the same labels: sources of candidates, the fit of each to the labels, its weight, the blend."""

from semikpca.blending._accuracy_evidence import AccuracyEvidence
from semikpca.blending._agreement import NeighborAgreement
from semikpca.blending._blend import Blend, BlendSettings, Part, Total, no_report
from semikpca.blending._columns import NO_COLUMNS, Columns
from semikpca.blending._folds import MOST_FOLDS, label_folds
from semikpca.blending._label_fit import LabelSystem
from semikpca.blending._sources import PlainSource, Report, ResponseSource, Source, sources_of
from semikpca.blending._structure import RowStructure, structures_of
from semikpca.blending._value_blend import ValueBlend, ValuePart
from semikpca.blending._value_candidates import ValueScale
from semikpca.blending._value_weights import first_weights, left_out_errors, stacked_weights
from semikpca.blending._weights import Evidence, candidate_log_weights, left_out_losses, normalized_weights

__all__ = [
    "MOST_FOLDS",
    "NO_COLUMNS",
    "AccuracyEvidence",
    "Blend",
    "BlendSettings",
    "Columns",
    "Evidence",
    "LabelSystem",
    "NeighborAgreement",
    "Part",
    "PlainSource",
    "Report",
    "ResponseSource",
    "RowStructure",
    "Source",
    "Total",
    "ValueBlend",
    "ValuePart",
    "ValueScale",
    "candidate_log_weights",
    "first_weights",
    "label_folds",
    "left_out_errors",
    "left_out_losses",
    "no_report",
    "normalized_weights",
    "sources_of",
    "stacked_weights",
    "structures_of",
]
