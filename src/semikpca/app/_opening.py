"""From a file, an upload or an example to something that can be labeled."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePath
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.datasets import load_digits

from semikpca.app._autosave import Autosave
from semikpca.app._column_choices import NOTHING_SAID, ColumnChoices, place_beside, remembered
from semikpca.app._column_facts import ColumnFacts, column_facts
from semikpca.app._label_kinds import KINDS, LabelsOnPage, kind_of
from semikpca.app._session import LabelingSession
from semikpca.datasets import make_apartments, make_four_clusters, make_support_tickets
from semikpca.exceptions import TableError
from semikpca.labels import UNLABELED
from semikpca.tables import (
    CLASSES,
    ColumnRoles,
    LabelKind,
    Table,
    check_roles,
    encoded_table,
    is_free_text,
    is_missing,
    label_kind,
    number_style,
    read_table,
    replaced_columns,
    settled_roles,
    vector_length,
    with_columns,
)
from semikpca.workflow import (
    FilledTable,
    LabelingOptions,
    RowMap,
    prepare_table,
    row_map,
    row_names,
    row_texts,
    table_fingerprint,
    views_that_matter,
)

Place: TypeAlias = Literal["beside the file", "state folder"]

MOST_ROWS_ON_MAP = 10_000  # beyond it a sample stands for all rows: a browser draws no more in the blink of an eye
NEW_COLUMN = "label"
_LETTERS_OF_TITLE = 90
_SEEN = 1_000  # rows that show whether a column may have numbers
_MOST_LIKELY_CLASSES = 50
_LONGEST_FILE_NAME = 60  # letters; file systems count bytes, up to four a letter, and allow 255


@dataclass(frozen=True)
class Pending:
    """A table that was read, before it is known which column has its labels."""

    table: Table
    name: str
    place: Place
    text_encoder: str | None = None  # None: as the command line says
    left_out: tuple[str, ...] = ()  # columns that it is opened without
    labels_as: str | None = None  # classes or numbers; None: as the command line says, or as they look

    @cached_property
    def has_text(self) -> bool:
        """Whether there is a column for a text encoder to read."""
        return any(is_free_text(self.table.features[name]) for name in self.table.features.columns)

    @cached_property
    def label_kinds(self) -> dict[str, LabelKind]:
        """What each column would be taken for as the labels, where there is a choice."""
        columns = [name for name in self.candidates() if number_style(self.table.features[name].iloc[:_SEEN])]
        kinds = {name: label_kind(self.table, ColumnRoles(name)) for name in columns}
        return {name: kind for name, kind in kinds.items() if kind.reason}

    def looked_at(self) -> "Pending":
        """Return the same once all is known that the question for the column says: cells of many rows take a while."""
        _ = self.has_text, self.label_kinds
        return self

    def asked(self, **changes: Any) -> "Pending":
        """Return the same with what a user says of it; what is known of the cells is not found out again."""
        other = replace(self, **changes)
        vars(other).update({name: vars(self)[name] for name in ("has_text", "label_kinds") if name in vars(self)})
        return other

    def candidates(self) -> list[str]:
        """Return all columns but vectors, likely label columns first: few different values, and empty cells."""

        def unlikely(column: str) -> tuple[bool, bool]:
            cells = self.table.features[column]
            return not 0 < cells.nunique() <= _MOST_LIKELY_CLASSES, not cells.isna().any()

        columns = [str(name) for name in self.table.frame.columns if not _is_vector(self.table, name)]
        return sorted(columns, key=unlikely)


@dataclass(frozen=True)
class OpenTable:
    """A table on the page: its rows in words, its map, and the session that labels it."""

    name: str
    table: Table
    roles: ColumnRoles
    options: LabelingOptions
    vectorizer: Any
    session: LabelingSession
    map: RowMap
    notes: tuple[str, ...] = ()
    picture: tuple[str, ...] = ()  # columns that are the pixels of a square picture, row by row
    place: Place = "state folder"
    asked: ColumnRoles | None = None  # roles before choices of columns, and before anything was left out
    choices: ColumnChoices = NOTHING_SAID
    kind: LabelsOnPage = KINDS[CLASSES]

    @cached_property
    def columns(self) -> tuple[ColumnFacts, ...]:
        """What each column is."""
        asked = self.roles if self.asked is None else self.choices.applied_to(self.asked, self.table)
        return column_facts(self.table, asked, self.roles, self.vectorizer)

    def learned(self) -> FilledTable | None:
        """Return the table with the labels of the model, or None as long as there is none."""
        return self.kind.learned(self, self.table)

    def again(self, choices: ColumnChoices, say: Callable[[str], None] = lambda step: None) -> "OpenTable":
        """Return the same table with other choices of columns; its session has the labels of the file alone."""
        roles = self.roles if self.asked is None else self.asked
        classes = self.session.snapshot().classes
        return open_table(
            self.table,
            roles,
            name=self.name,
            place=self.place,
            options=self.options,
            classes=classes,
            picture=self.picture,
            choices=choices,
            say=say,
        )

    @cached_property
    def place_on_map(self) -> dict[int, int]:
        """The number on the map of each row that is there."""
        return {int(row): place for place, row in enumerate(self.map.rows)}

    @cached_property
    def titles(self) -> list[str]:
        """What each row is about, in a short line."""
        if self.picture:
            return [f"Picture {row + 1}" for row in range(len(self.table))]
        return row_texts(self, range(len(self.table)), most=_LETTERS_OF_TITLE)

    @cached_property
    def names(self) -> list[str]:
        """How each row is found in the file: by its id, or by its place."""
        return row_names(self, range(len(self.table)))

    def cells(self, row: int) -> list[tuple[str, str]]:
        """Return the names and cells of one row, without its label, its vectors and the pixels of a picture."""
        values = self.table.frame.iloc[row]
        return [(str(name), "" if is_missing(values[name]) else str(values[name])) for name in self.shown_columns]

    @cached_property
    def shown_columns(self) -> list[Any]:
        """The columns that people read: without the labels, vectors and the pixels of a picture."""
        unshown = {self.roles.label, *self.picture}
        return [name for name in self.table.frame if name not in unshown and not _is_vector(self.table, name)]

    @cached_property
    def texts(self) -> frozenset[str]:
        """The names of the columns that hold free text."""
        return frozenset(str(name) for name in self.shown_columns if is_free_text(self.table.features[name]))

    def pixels(self, row: int) -> list[float]:
        """Return the pixels of the picture of a row, between 0 and 1."""
        values = self.table.frame[list(self.picture)].iloc[row].to_numpy(dtype=float)
        shares: list[float] = (values / max(1.0, float(values.max()))).tolist()
        return shares

    def download(self, error_rate: float = 0.05) -> tuple[str, bytes]:
        """Return name and content of the result: the columns of ``semikpca label``, with the new labels filled in.

        Where it was found out what can be accepted at this error rate, a column says so.
        """
        given = self.session.given
        table = replace(self.table, frame=self._with_labels(given))
        columns = self.kind.answers(self, table, error_rate)
        frame = with_columns(table.written.drop(columns=replaced_columns(self.table, self.roles)), columns)
        suffix = ".csv" if self.table.is_array else PurePath(self.name).suffix
        name = f"{PurePath(self.name).stem}-labeled{suffix or '.csv'}"
        return name, encoded_table(frame, name, like=self.table)[0]

    def _with_labels(self, given: npt.NDArray[Any]) -> pd.DataFrame:
        """Return the cells as they were, but for labels that were changed on the page."""
        before = self.kind.labels(self.table, self.roles)
        cells: list[Any] = self.table.frame[self.roles.label].tolist()
        empty: Any = "" if self.table.format in ("csv", "tsv") else None
        if self.table.is_array and pd.api.types.is_numeric_dtype(self.table.frame[self.roles.label].dtype):
            empty = UNLABELED  # as in the cells that were empty before
        changed = np.flatnonzero(before != given)
        filled = [row for row in changed.tolist() if given[row] is not None]
        for row in changed.tolist():
            cells[row] = empty
        for row, cell in zip(filled, self.kind.cells(self.table, self.roles, given[filled]), strict=True):
            cells[row] = cell
        frame = self.table.frame.copy()
        frame[self.roles.label] = pd.Series(cells, index=frame.index, dtype=object)
        return frame


def open_table(
    table: Table,
    roles: ColumnRoles,
    *,
    name: str,
    place: Place,
    options: LabelingOptions | None = None,
    classes: tuple[Any, ...] = (),
    picture: tuple[str, ...] = (),
    choices: ColumnChoices | None = None,
    said: Collection[str] = (),
    say: Callable[[str], None] = lambda step: None,
) -> OpenTable:
    """Make numbers of the columns, lay the rows out on a map, and begin a session.

    A table that cannot be learned from is refused with what to do; ``say`` is told the steps. Choices of columns are
    those of the last visit unless they are given, but for columns that something was ``said`` of today.
    """
    options = LabelingOptions() if options is None else options
    if choices is None:
        choices = remembered(place_beside(_autosave(table, roles, name, place, Autosave).path))
        choices = choices.without(set(said) - {roles.label})
    roles = choices.with_kind_of_labels(roles)
    kind, roles, told = kind_of(table, roles)
    autosave = _autosave(table, roles, name, place, kind.autosave)
    # What a column is can be said on the page once it is open, and labels may come one by one.
    prepared = prepare_table(
        table,
        choices.applied_to(roles, table),
        allow_fewer=True,
        allow_many_categories=True,
        progress=lambda step, done, total: say(f"{step}: {done:,} of {total:,}" if total > 1 else step),
    )
    X, given = prepared.X, kind.labels(table, prepared.roles)
    say("Finding neighbors and kernels")
    views = views_that_matter(prepared, options)
    session = kind.session(X, given, options, views, classes=classes, autosave=autosave, empty=prepared.empty)
    say("Drawing the map")
    labeled = np.flatnonzero([label is not None for label in given])
    rows = row_map(X, max_rows=MOST_ROWS_ON_MAP, always=labeled)
    opened = OpenTable(
        name,
        table,
        prepared.roles,
        options,
        prepared.vectorizer,
        session,
        rows,
        (*told, *prepared.notes),
        picture,
        place,
        roles,
        choices,
        kind,
    )
    _ = opened.columns  # found now, when nobody waits for an answer
    return opened


def check_table(table: Table, roles: ColumnRoles) -> None:
    """Refuse roles and labels that nothing can be learned with; what takes long is not tried."""
    kind, roles, _ = kind_of(table, roles)
    settled, _ = settled_roles(table, roles)
    check_roles(table, settled, allow_many_categories=True)
    kind.labels(table, settled)


def _autosave(table: Table, roles: ColumnRoles, name: str, place: Place, make: type[Autosave]) -> Autosave:
    fingerprint = table_fingerprint(table, roles.label)
    if place == "beside the file" and table.path is not None:
        return make.beside(table.path, fingerprint)
    return make.in_state_folder(name, fingerprint)


def with_new_label_column(table: Table, name: str) -> Table:
    """Return the table with an empty column for labels at its end."""
    if not name.strip():
        raise TableError("The new column needs a name.")
    if name in table.features.columns:
        raise TableError(f"{table.name} has a column {name!r} already. Choose it, or give the new one another name.")
    empty = "" if table.format in ("csv", "tsv") else None
    frame = table.frame.assign(**{name: np.full(len(table), empty, dtype=object)})
    features = table.features.assign(**{name: np.full(len(table), None, dtype=object)})
    return replace(table, frame=frame, features=features)


def read_upload(filename: str, content: bytes) -> Pending:
    """Return the table of an uploaded file; its name is all that is taken from the sender."""
    name = PurePath(filename.replace("\\", "/")).name[-_LONGEST_FILE_NAME:]
    if name in ("", ".."):
        name = "upload.csv"
    return Pending(replace(read_table(name, content=content), path=None), name, "state folder")


EXAMPLES = {
    "tickets": ("Support tickets", "600 messages to a help desk, 40 of them labeled"),
    "digits": ("Handwritten digits", "1,797 small pictures, no label yet"),
    "clusters": ("Four clusters", "400 points on a plane, no label yet"),
    "apartments": ("Apartments", "500 of them, 60 with a rent: numbers in place of classes"),
}


def open_example(key: str, say: Callable[[str], None] = lambda step: None) -> OpenTable:
    """Open one of ``EXAMPLES``; ``say`` is told the steps."""
    frame: pd.DataFrame
    more: dict[str, Any] = {}
    if key == "tickets":
        frame, name = make_support_tickets(), "support-tickets.csv"
        roles = ColumnRoles("category", id="ticket_id", text=("subject", "message"))
    elif key == "digits":
        pixels = pd.DataFrame(load_digits().data.astype(int)).add_prefix("pixel_")
        frame, name, roles = pixels.assign(digit=""), "digits.csv", ColumnRoles("digit")
        # The keys 1 … 9 and 0 give the digit that is printed on them.
        more = {"classes": tuple("1234567890"), "picture": tuple(pixels.columns)}
    elif key == "clusters":
        points = pd.DataFrame(make_four_clusters(random_state=0)[0].round(3), columns=["x", "y"])
        frame, name, roles = points.assign(side=""), "four-clusters.csv", ColumnRoles("side")
        more = {"classes": ("left", "right")}
    elif key == "apartments":
        frame, name = make_apartments(), "apartments.csv"
        roles = ColumnRoles("rent", id="apartment_id")
    else:
        raise ValueError(f"There is no example {key!r}; there are {', '.join(EXAMPLES)}.")
    # As it would come from a file of the user's: cells as text.
    table = read_upload(name, frame.to_csv(index=False).encode()).table
    return open_table(table, roles, name=name, place="state folder", say=say, **more)


def _is_vector(table: Table, name: str) -> bool:
    return vector_length(table.features[name]) is not None
