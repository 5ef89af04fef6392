"""Embeddings in a file of their own, put beside the rows of a table."""

from dataclasses import replace

import pandas as pd

from semikpca._words import counted
from semikpca.exceptions import TableError
from semikpca.tables._features import as_text, is_missing
from semikpca.tables._table import Table, listed
from semikpca.tables._vectors import EMBEDDING, vector_length

_MOST_IDS = 5  # that a message names


def with_embeddings(table: Table, embeddings: Table, id_column: str | None = None) -> Table:
    """Return the table with one column of vectors more to learn from, by ids that both have or in the order of rows."""
    if EMBEDDING in table.features.columns:
        raise TableError(
            f"{table.name} has a column {EMBEDDING!r}, as the embeddings of {embeddings.name} are called. Rename it."
        )
    vectors = [name for name in embeddings.features.columns if vector_length(embeddings.features[name]) is not None]
    if len(vectors) != 1:
        has = "none" if not vectors else listed(vectors)
        raise TableError(
            f"{embeddings.name}: embeddings are one 2-D array (.npy, .npz) or one column of lists with as many numbers "
            f"in every row (.parquet, .jsonl). It has {has}."
        )
    notes = table.options.get("notes", ())
    names = _id_columns(table, embeddings, vectors[0], id_column)
    if names is not None:
        places = _places(table, embeddings, *names)
        if id_column is None:
            notes = (*notes, f"The embeddings of {embeddings.name} belong to the rows with the same {names[0]!r}.")
    elif len(embeddings) != len(table):
        raise TableError(
            f"{embeddings.name} has {len(embeddings):,} embeddings and {table.name} has {len(table):,} rows. Give each "
            "row one, in the same order; or name with --id-column a column of ids that the file with the embeddings "
            "has as well (.npz, .parquet)."
        )
    else:
        places = list(range(len(table)))
        if len(embeddings.frame.columns):
            notes = (
                *notes,
                f"The embeddings of {embeddings.name} are taken in the order of the rows. --id-column goes by ids that "
                "both files have.",
            )
    cells = embeddings.features[vectors[0]].iloc[places].tolist()
    column = pd.Series(cells, table.features.index, object)
    return replace(
        table, features=table.features.assign(**{EMBEDDING: column}), options={**table.options, "notes": notes}
    )


def _id_columns(table: Table, embeddings: Table, vectors: str, id_column: str | None) -> tuple[str, str] | None:
    """Return the columns with the ids of the rows and of the embeddings; None where these are in order."""
    others = [str(name) for name in embeddings.frame.columns if name != vectors]
    if id_column is not None and id_column in table.frame.columns:
        if id_column in others:
            return id_column, id_column
        # The only array beside the embeddings has whatever name its maker gave it.
        return (id_column, others[0]) if embeddings.format == "npz" and len(others) == 1 else None
    shared = [name for name in others if name in table.frame.columns]
    distinct = [name for name in shared if len(set(_ids(embeddings, name))) == len(embeddings)]
    return (distinct[0], distinct[0]) if len(distinct) == 1 else None


def _places(table: Table, embeddings: Table, name: str, name_there: str) -> list[int]:
    """Return which embedding each row has, by their ids."""
    places: dict[str, int] = {}
    twice: dict[str, None] = {}
    for place, key in enumerate(_ids(embeddings, name_there)):
        if places.setdefault(key, place) != place:
            twice[key] = None
    if twice:
        raise TableError(
            f"{embeddings.name} has {counted(len(twice), 'id')} more than once in {name_there!r}: "
            f"{listed(twice, _MOST_IDS)}. Keep one embedding of each."
        )
    wanted = _ids(table, name)
    if lacking := [key for key in wanted if key not in places]:
        raise TableError(
            f"{len(lacking):,} of the {len(table):,} rows of {table.name} have no embedding in {embeddings.name}, by "
            f"their ids in {name!r}: {listed(dict.fromkeys(lacking), _MOST_IDS)}. Add their embeddings, or take these "
            "rows out."
        )
    return [places[key] for key in wanted]


def _ids(table: Table, name: str) -> list[str]:
    """Return ids as text: 7 in an array is "7" in a text file."""
    return ["" if is_missing(cell) else as_text(cell).strip() for cell in table.frame[name].tolist()]
