"""Labels to and from other programs: a table of two columns, and Label Studio's JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from semikpca.exceptions import TableError
from semikpca.tables import ROW, ColumnRoles, Table, as_text, encoded_table, is_missing, read_table, vector_length

ROW_KEY = "semikpca_row"  # in the data of a task: the number of its row, from 1
QUESTION, SUBJECT = "label", "row"  # names in Label Studio's labeling interface: what is asked, and about what
_ACCEPTED_BY = "semikpca"


@dataclass(frozen=True)
class ImportedLabels:
    """Labels of another program, by row, counted from 0."""

    labels: dict[int, str]  # of people
    accepted: dict[int, str]  # of a model, which a person has accepted unseen


class _Rows:
    """The rows of a table by what other programs know them by: the cells of the id column, or their numbers."""

    def __init__(self, table: Table, id_column: str | None) -> None:
        self.n_rows, self.id_column = len(table), id_column
        self.names: list[str] = [str(number) for number in range(1, len(table) + 1)]
        if id_column is not None:
            cells = table.frame[id_column].tolist()
            self.names = ["" if is_missing(cell) else as_text(cell).strip() for cell in cells]
        self.places: dict[str, list[int]] = {}
        for place, name in enumerate(self.names):
            self.places.setdefault(name, []).append(place)

    def named(self, name: str, record: str) -> int:
        """Return the row that is called so."""
        found = self.places.get(name, []) if name else []
        what = f"the number {name!r}" if self.id_column is None else f"{name!r} in {self.id_column!r}"
        if not found:
            raise TableError(f"{record}: no row of the table has {what}.")
        if len(found) > 1:
            raise TableError(f"{record}: {len(found):,} rows of the table have {what}, so that it is none of them.")
        return found[0]

    def numbered(self, number: Any, record: str) -> int:
        """Return the row with this number, from 1."""
        is_whole = isinstance(number, int) and not isinstance(number, bool)
        if not is_whole or not 1 <= number <= self.n_rows:
            raise TableError(f"{record}: row {number!r} of {self.n_rows:,}; rows are counted from 1.")
        return int(number) - 1


# -- two columns ---------------------------------------------------------------------------------------------------


def labels_to_csv(table: Table, roles: ColumnRoles, labels: Mapping[int, Any]) -> bytes:
    r"""Return a CSV file of two columns: what each labeled row is called (its id, or its number), and its label.

    Parameters
    ----------
    table : Table
    roles : ColumnRoles
        The names of the columns with ids and labels.
    labels : dict
        Labels by row, counted from 0.

    Examples
    --------
    >>> table = read_table("rows.csv", content=b"name,x,kind\nr-1,1,\nr-2,2,\n")
    >>> content = labels_to_csv(table, ColumnRoles("kind", id="name"), {1: "spam"})
    >>> content.decode().splitlines()
    ['name,kind', 'r-2,spam']
    >>> labels_from_csv(content, table, ColumnRoles("kind", id="name")).labels
    {1: 'spam'}
    """
    names = _Rows(table, roles.id).names
    first = ROW if roles.id is None else roles.id
    rows = sorted(labels)
    frame = pd.DataFrame({first: [names[row] for row in rows], roles.label: [as_text(labels[row]) for row in rows]})
    return encoded_table(frame, "labels.csv")[0]


def labels_from_csv(content: bytes, table: Table, roles: ColumnRoles) -> ImportedLabels:
    """Return the labels of a CSV file of two columns; TableError names the line of a record that cannot be used.

    The first column has ids, where ``roles`` names a column of them, or else numbers of rows, from 1; a first column
    that is called "row" always has numbers. Lines without a label are passed over.
    """
    read = read_table("labels.csv", content=content)
    if len(read.frame.columns) != 2:
        raise TableError(
            f"The file has {len(read.frame.columns):,} columns, and needs two: what a row is called, and its label."
        )
    first, second = read.frame.columns
    rows = _Rows(table, None if first == ROW and roles.id != ROW else roles.id)
    found: dict[int, str] = {}
    for place, (name, label) in enumerate(zip(read.frame[first], read.frame[second], strict=True)):
        text = "" if is_missing(label) else as_text(label).strip()
        if text:
            record = f"{read.line_of(place)[0].upper()}{read.line_of(place)[1:]} of the file"
            _add(found, rows.named(as_text(name).strip(), record), text, record)
    return ImportedLabels(found, {})


def _add(found: dict[int, str], row: int, label: str, record: str) -> None:
    if found.setdefault(row, label) != label:
        raise TableError(f"{record}: row {row + 1} has the label {found[row]!r} in an earlier one, and {label!r} here.")


# -- Label Studio --------------------------------------------------------------------------------------------------


def labels_to_label_studio(
    table: Table, roles: ColumnRoles, labels: Mapping[int, Any], accepted: Mapping[int, Any] | None = None
) -> bytes:
    """Return Label Studio's JSON: a task for each row, with its label as an annotation.

    Labels that were ``accepted`` are predictions there: nobody has looked at them. The labeling interface needs
    ``<Choices name="label" toName="row">``.
    """
    accepted = accepted or {}
    names = [
        str(name) for name in table.frame.columns if name != roles.label and vector_length(table.features[name]) is None
    ]
    cells = {name: table.frame[name].tolist() for name in names}
    tasks = []
    for row in range(len(table)):
        data = {name: "" if is_missing(values[row]) else as_text(values[row]) for name, values in cells.items()}
        task: dict[str, Any] = {"data": {**data, ROW_KEY: row + 1}, "annotations": [], "predictions": []}
        if row in labels:
            task["annotations"].append({"result": [_choice(labels[row])]})
        elif row in accepted:
            task["predictions"].append({"model_version": _ACCEPTED_BY, "result": [_choice(accepted[row])]})
        tasks.append(task)
    return json.dumps(tasks, ensure_ascii=False, indent=1).encode()


def _choice(label: Any) -> dict[str, Any]:
    return {"from_name": QUESTION, "to_name": SUBJECT, "type": "choices", "value": {"choices": [as_text(label)]}}


def labels_from_label_studio(content: bytes, table: Table, roles: ColumnRoles) -> ImportedLabels:
    """Return the labels of an export of Label Studio (JSON); TableError names the task that cannot be used.

    A task is the row whose number it has in ``semikpca_row``, as in our own export, or whose id it has in the column of
    ids. Annotations that were skipped do not count; several must agree, unless one is marked as ground truth. Of
    predictions only those count that were accepted here.
    """
    try:
        tasks = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise TableError(f"This is no JSON: {error}") from error
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise TableError("An export of Label Studio is a list of tasks. Export as JSON there.")
    rows = _Rows(table, roles.id)
    labels: dict[int, str] = {}
    accepted: dict[int, str] = {}
    for number, task in enumerate(tasks, start=1):
        record = f"Task {number}" + (f" (id {task['id']})" if isinstance(task.get("id"), int) else "")
        if not isinstance(task.get("data"), dict) or "annotations" not in task:
            raise TableError(f"{record}: it needs data and annotations. Export as JSON, not as JSON-MIN or CSV.")
        row = _row_of(task["data"], rows, record)
        said = _annotated(task["annotations"], record)
        if said is not None:
            _add(labels, row, said, record)
            continue
        ours = [one for one in _dicts(task.get("predictions")) if one.get("model_version") == _ACCEPTED_BY]
        for prediction in ours:
            _add(accepted, row, _only_choice(prediction, record), record)
    return ImportedLabels(labels, {row: label for row, label in accepted.items() if row not in labels})


def _row_of(data: Mapping[str, Any], rows: _Rows, record: str) -> int:
    by_id = None
    if rows.id_column is not None and rows.id_column in data:
        by_id = rows.named(str(data[rows.id_column]).strip(), record)
    if ROW_KEY not in data:
        if by_id is None:
            ids = "" if rows.id_column is None else f" nor {rows.id_column}"
            raise TableError(f"{record}: its data has no {ROW_KEY}{ids}, so that nobody knows which row it is.")
        return by_id
    row = rows.numbered(data[ROW_KEY], record)
    if by_id is not None and by_id != row:
        raise TableError(
            f"{record}: it says row {row + 1}, and its {rows.id_column} is that of row {by_id + 1}. Another table?"
        )
    return row


def _annotated(annotations: Any, record: str) -> str | None:
    if not isinstance(annotations, list) or not all(isinstance(one, dict) for one in annotations):
        raise TableError(f"{record}: annotations must be a list of objects.")
    counting = [one for one in annotations if not one.get("was_cancelled")]
    counting = [one for one in counting if one.get("ground_truth")] or counting
    said = list(dict.fromkeys(_only_choice(one, record) for one in counting if one.get("result")))
    if len(said) > 1:
        raise TableError(f"{record}: its annotations differ ({', '.join(said)}). Mark the right one as ground truth.")
    return said[0] if said else None


def _only_choice(annotation: Mapping[str, Any], record: str) -> str:
    chosen: dict[str, Sequence[Any]] = {}
    for result in _dicts(annotation.get("result")):
        if result.get("type") == "choices":
            value = result.get("value")
            choices = value.get("choices") if isinstance(value, dict) else None
            if not isinstance(choices, list):
                raise TableError(f"{record}: a result without a list of choices.")
            chosen[str(result.get("from_name"))] = choices
    questions = [QUESTION] if QUESTION in chosen else list(chosen)
    if len(questions) != 1:
        asked = f"answers to {len(questions)} questions ({', '.join(questions)})" if questions else "no choice"
        raise TableError(f"{record}: it has {asked}, and one is needed: type choices, from_name {QUESTION}.")
    choices = chosen[questions[0]]
    if len(choices) != 1 or not isinstance(choices[0], str) or not choices[0].strip():
        raise TableError(f"{record}: the choices {choices!r}, and a row has one label.")
    return choices[0].strip()


def _dicts(values: Any) -> Iterator[Mapping[str, Any]]:
    return (value for value in values if isinstance(value, dict)) if isinstance(values, list) else iter(())
