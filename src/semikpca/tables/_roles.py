"""What the columns of a table are for."""

from dataclasses import dataclass

from semikpca.exceptions import TableError
from semikpca.tables._encoders import AUTO
from semikpca.tables._table import Table, close_names, listed

PANDAS_INDEX = "__index_level_"  # how pandas names an index without a name in Parquet files


@dataclass(frozen=True)
class ColumnRoles:
    """Which column has the labels, and how the others are used.

    Attributes
    ----------
    label : str
        The column with the labels; where it is empty, a row is unlabeled.
    id : str or None, default=None
        A column that names the rows. Nothing is learned from it.
    text : tuple of str, default=()
        Columns to take as free text, whatever they contain.
    exclude : tuple of str, default=()
        Columns that nothing is learned from.
    text_encoder : str, default="auto"
        What reads free text, see :func:`semikpca.tables.find_encoder`.
    """

    label: str
    id: str | None = None
    text: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    text_encoder: str = AUTO

    def named(self) -> list[tuple[str, str]]:
        """Return each option of the command line with a column that it names."""
        one = [("--label-column", self.label), *([("--id-column", self.id)] if self.id is not None else [])]
        return [*one, *(("--text-column", name) for name in self.text), *(("--exclude", name) for name in self.exclude)]


def feature_columns(table: Table, roles: ColumnRoles) -> list[str]:
    """Return the columns to learn from, in their order."""
    left_out = {roles.label, roles.id, *roles.exclude}
    return [name for name in table.frame.columns if name not in left_out and not name.startswith(PANDAS_INDEX)]


def refuse_roles(table: Table, roles: ColumnRoles) -> None:
    """Refuse a role for a column that is not there, with the names that may have been meant, and two for one column."""
    columns = list(table.frame.columns)
    options: dict[str, str] = {}
    for option, name in roles.named():
        if name not in columns:
            close = close_names(name, columns)
            meant = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
            headless = " The first line looks like data: the file needs a line with column names." * _is_data(columns)
            raise TableError(
                f"{option}: {table.name} has no column {name!r}.{meant} Columns: {listed(columns)}.{headless}"
            )
        if (other := options.setdefault(name, option)) != option:
            raise TableError(f"The column {name!r} is named in {other} and in {option}. Leave out one of them.")


def _is_data(columns: list[str]) -> bool:
    def is_number(name: str) -> bool:
        try:
            float(name)
        except ValueError:
            return False
        return True

    return sum(map(is_number, columns)) > len(columns) / 2
