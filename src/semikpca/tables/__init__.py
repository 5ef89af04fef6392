"""From files to tables and from tables to numbers."""

try:
    from semikpca.tables._added import ROW, label_columns, named_rows, number_columns, replaced_columns, with_columns
    from semikpca.tables._checks import check_roles
    from semikpca.tables._cleaning import plain_text
    from semikpca.tables._encoders import AUTO, NGRAMS, EncoderIdentity, TextEncoder, find_encoder
    from semikpca.tables._features import as_text, empty_rows, features_of, is_missing, number_style
    from semikpca.tables._free_text import is_free_text
    from semikpca.tables._given_numbers import given_numbers, number_cells
    from semikpca.tables._label_kind import LabelKind, label_kind
    from semikpca.tables._label_notes import label_warnings
    from semikpca.tables._labels import given_labels
    from semikpca.tables._left_out import identifier_reason, settled_roles
    from semikpca.tables._pieces import PiecedTable, features_like, frame_of, in_pieces
    from semikpca.tables._reading import read_table, suffix_of_content
    from semikpca.tables._table import (
        AUTO_KIND,
        CLASSES,
        NUMBERS,
        ColumnRoles,
        Table,
        feature_columns,
        listed,
        refuse_roles,
    )
    from semikpca.tables._text_reading import TextReader, folder_beside
    from semikpca.tables._typed_number import typed_number
    from semikpca.tables._vectorizer import (
        TableToNumbers,
        feature_counts,
        feature_kinds,
        feature_places,
        kinds_in_words,
        make_vectorizer,
        text_reading,
    )
    from semikpca.tables._vectors import EMBEDDING, vector_length, with_unfolded_vectors
    from semikpca.tables._writing import check_output, encoded_table, write_table
except ModuleNotFoundError as error:
    if (error.name or "").startswith("semikpca"):
        raise
    message = f"Tables need the package {error.name}: pip install 'semikpca[label]'"
    raise ModuleNotFoundError(message, name=error.name) from error

__all__ = [
    "AUTO",
    "AUTO_KIND",
    "CLASSES",
    "EMBEDDING",
    "NGRAMS",
    "NUMBERS",
    "ROW",
    "ColumnRoles",
    "EncoderIdentity",
    "LabelKind",
    "PiecedTable",
    "Table",
    "TableToNumbers",
    "TextEncoder",
    "TextReader",
    "as_text",
    "check_output",
    "check_roles",
    "empty_rows",
    "encoded_table",
    "feature_columns",
    "feature_counts",
    "feature_kinds",
    "feature_places",
    "features_like",
    "features_of",
    "find_encoder",
    "folder_beside",
    "frame_of",
    "given_labels",
    "given_numbers",
    "identifier_reason",
    "in_pieces",
    "is_free_text",
    "is_missing",
    "kinds_in_words",
    "label_columns",
    "label_kind",
    "label_warnings",
    "listed",
    "make_vectorizer",
    "named_rows",
    "number_cells",
    "number_columns",
    "number_style",
    "plain_text",
    "read_table",
    "refuse_roles",
    "replaced_columns",
    "settled_roles",
    "suffix_of_content",
    "text_reading",
    "typed_number",
    "vector_length",
    "with_columns",
    "with_unfolded_vectors",
    "write_table",
]
