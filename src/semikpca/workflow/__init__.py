"""From a table to labels: fit, read off, keep. Needs the extra ``label``."""

from semikpca.labeling import AccuracyEstimate
from semikpca.workflow._accepted import accepted_in_words, drawn_rows, percent
from semikpca.workflow._audit import AuditedTable, audit_table
from semikpca.workflow._cluster_label import ClusterLabels, cluster_classifier, label_on_cluster
from semikpca.workflow._filled import FilledTable
from semikpca.workflow._label import (
    Progress,
    about_empty_rows,
    fit_labels,
    label_table,
    number_table,
    prepare_table,
    views_that_matter,
)
from semikpca.workflow._label_exchange import (
    ImportedLabels,
    labels_from_csv,
    labels_from_label_studio,
    labels_to_csv,
    labels_to_label_studio,
)
from semikpca.workflow._label_model import LabelModel, NumberModel
from semikpca.workflow._labeled import LabeledTable, audit_frame, hidden, left_out_estimate
from semikpca.workflow._model_file import load_model, save_model
from semikpca.workflow._number_audit import AuditedNumbers, audit_numbers
from semikpca.workflow._numbered import COVERAGE, NumberedTable, hidden_numbers, value_audit_frame
from semikpca.workflow._options import LabelingOptions, kernel_names
from semikpca.workflow._page_labels import FORMAT as PAGE_LABELS_FORMAT
from semikpca.workflow._page_labels import (
    STATE_FOLDER_VARIABLE,
    PageLabels,
    PageLabelsError,
    SavedLabels,
    Visit,
    fingerprint_of,
    kept_beside,
    read_kept,
    state_folder,
    table_fingerprint,
)
from semikpca.workflow._page_tables import with_page_labels
from semikpca.workflow._rows import RowMap, printable, row_map, row_names, row_texts, shortened
from semikpca.workflow._semi_kpca_share import SemiKPCAShare, SemiKPCAUse, in_percent, semi_kpca_uses
from semikpca.workflow._suggestions import suggested_rows, why_suggested
from semikpca.workflow._value_estimate import ValueEstimate, amount, decimals_for
from semikpca.workflow._value_ranges import ValueRange, round_edges, round_numbers, value_ranges

__all__ = [
    "COVERAGE",
    "PAGE_LABELS_FORMAT",
    "STATE_FOLDER_VARIABLE",
    "AccuracyEstimate",
    "AuditedNumbers",
    "AuditedTable",
    "ClusterLabels",
    "FilledTable",
    "ImportedLabels",
    "LabelModel",
    "LabeledTable",
    "LabelingOptions",
    "NumberModel",
    "NumberedTable",
    "PageLabels",
    "PageLabelsError",
    "Progress",
    "RowMap",
    "SavedLabels",
    "SemiKPCAShare",
    "SemiKPCAUse",
    "ValueEstimate",
    "ValueRange",
    "Visit",
    "about_empty_rows",
    "accepted_in_words",
    "amount",
    "audit_frame",
    "audit_numbers",
    "audit_table",
    "cluster_classifier",
    "decimals_for",
    "drawn_rows",
    "fingerprint_of",
    "fit_labels",
    "hidden",
    "hidden_numbers",
    "in_percent",
    "kept_beside",
    "kernel_names",
    "label_on_cluster",
    "label_table",
    "labels_from_csv",
    "labels_from_label_studio",
    "labels_to_csv",
    "labels_to_label_studio",
    "left_out_estimate",
    "load_model",
    "number_table",
    "percent",
    "prepare_table",
    "printable",
    "read_kept",
    "round_edges",
    "round_numbers",
    "row_map",
    "row_names",
    "row_texts",
    "save_model",
    "semi_kpca_uses",
    "shortened",
    "state_folder",
    "suggested_rows",
    "table_fingerprint",
    "value_audit_frame",
    "value_ranges",
    "views_that_matter",
    "why_suggested",
    "with_page_labels",
]
