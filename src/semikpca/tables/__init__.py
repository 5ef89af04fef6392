"""From files to tables and from tables to numbers."""

try:
    from semikpca.tables._checks import check_roles
    from semikpca.tables._labels import given_labels
    from semikpca.tables._reading import read_table
    from semikpca.tables._roles import ColumnRoles, feature_columns
    from semikpca.tables._table import Table
    from semikpca.tables._vectorizer import (
        FOREIGN_TYPES,
        TableToNumbers,
        feature_counts,
        feature_kinds,
        make_vectorizer,
    )
    from semikpca.tables._writing import check_output, write_table
except ModuleNotFoundError as error:
    if (error.name or "").startswith("semikpca"):
        raise
    message = f"Tables need the package {error.name}: pip install 'semikpca[label]'"
    raise ModuleNotFoundError(message, name=error.name) from error

__all__ = [
    "FOREIGN_TYPES",
    "ColumnRoles",
    "Table",
    "TableToNumbers",
    "check_output",
    "check_roles",
    "feature_columns",
    "feature_counts",
    "feature_kinds",
    "given_labels",
    "make_vectorizer",
    "read_table",
    "write_table",
]
