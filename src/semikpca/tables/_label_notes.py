"""What a user should know of the label column before the work."""

from semikpca.tables._given_numbers import number_notes
from semikpca.tables._label_kind import label_kind
from semikpca.tables._labels import class_notes
from semikpca.tables._table import NUMBERS, ColumnRoles, Table


def label_warnings(table: Table, roles: ColumnRoles) -> list[str]:
    """Return what the labels are taken for, what was assumed of them, and what may be wrong with them, in words."""
    kind = label_kind(table, roles)
    notes = number_notes(table, roles) if kind.is_number else class_notes(table, roles)
    return [kind.reason, *notes] if kind.reason else notes


def notes_as_taken(table: Table, roles: ColumnRoles) -> list[str]:
    """Return the same without the question what they are: classes, unless the roles say that they are numbers."""
    return number_notes(table, roles) if roles.labels_as == NUMBERS else class_notes(table, roles)
