"""From files to tables and from tables to numbers."""

try:
    from semikpca.tables._checks import check_roles
    from semikpca.tables._features import empty_rows, features_of, is_missing
    from semikpca.tables._labels import given_labels, label_warnings
    from semikpca.tables._pieces import PiecedTable, features_like, frame_of, in_pieces
    from semikpca.tables._reading import read_table
    from semikpca.tables._table import ColumnRoles, Table, feature_columns, listed, refuse_roles
    from semikpca.tables._vectorizer import (
        TableToNumbers,
        feature_counts,
        feature_kinds,
        feature_places,
        kinds_in_words,
        make_vectorizer,
    )
    from semikpca.tables._vectors import EMBEDDING, vector_length, with_unfolded_vectors
    from semikpca.tables._writing import check_output, write_table
except ModuleNotFoundError as error:
    if (error.name or "").startswith("semikpca"):
        raise
    message = f"Tables need the package {error.name}: pip install 'semikpca[label]'"
    raise ModuleNotFoundError(message, name=error.name) from error

__all__ = [
    "EMBEDDING",
    "ColumnRoles",
    "PiecedTable",
    "Table",
    "TableToNumbers",
    "check_output",
    "check_roles",
    "empty_rows",
    "feature_columns",
    "feature_counts",
    "feature_kinds",
    "feature_places",
    "features_like",
    "features_of",
    "frame_of",
    "given_labels",
    "in_pieces",
    "is_missing",
    "kinds_in_words",
    "label_warnings",
    "listed",
    "make_vectorizer",
    "read_table",
    "refuse_roles",
    "vector_length",
    "with_unfolded_vectors",
    "write_table",
]
