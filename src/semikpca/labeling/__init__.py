"""Readings of the label response: which labels look wrong, which to give next, what if; all without a refit."""

from semikpca.labeling._accept import Acceptance, AcceptedLabels, accept_labels, labels_needed
from semikpca.labeling._accuracy import AccuracyEstimate, estimate_accuracy, worth_of_labels
from semikpca.labeling._audit import LabelAudit, audit_labels
from semikpca.labeling._held_out import HeldOut, held_out
from semikpca.labeling._held_out_values import HeldOutValues, held_out_values, reach_of
from semikpca.labeling._leave_one_out import LeaveOneLabelOut, leave_one_label_out
from semikpca.labeling._left_out_values import LeaveOneValueOut, ValueAudit
from semikpca.labeling._path import ErrorWeightPath, error_weight_path
from semikpca.labeling._prediction_intervals import PredictionIntervals, prediction_intervals
from semikpca.labeling._prediction_sets import PredictionSets, prediction_sets
from semikpca.labeling._suggest import expected_change, suggest_labels
from semikpca.labeling._wrong import listed_as_wrong

__all__ = [
    "Acceptance",
    "AcceptedLabels",
    "AccuracyEstimate",
    "ErrorWeightPath",
    "HeldOut",
    "HeldOutValues",
    "LabelAudit",
    "LeaveOneLabelOut",
    "LeaveOneValueOut",
    "PredictionIntervals",
    "PredictionSets",
    "ValueAudit",
    "accept_labels",
    "audit_labels",
    "error_weight_path",
    "estimate_accuracy",
    "expected_change",
    "held_out",
    "held_out_values",
    "labels_needed",
    "leave_one_label_out",
    "listed_as_wrong",
    "prediction_intervals",
    "prediction_sets",
    "reach_of",
    "suggest_labels",
    "worth_of_labels",
]
