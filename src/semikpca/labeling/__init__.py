"""Readings of the label response: which labels look wrong, which to give next, what if; all without a refit."""

from semikpca.labeling._leave_one_out import LabelAudit, LeaveOneLabelOut, audit_labels, leave_one_label_out
from semikpca.labeling._path import ErrorWeightPath, error_weight_path
from semikpca.labeling._suggest import expected_change, suggest_labels

__all__ = [
    "ErrorWeightPath",
    "LabelAudit",
    "LeaveOneLabelOut",
    "audit_labels",
    "error_weight_path",
    "expected_change",
    "leave_one_label_out",
    "suggest_labels",
]
