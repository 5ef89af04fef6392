"""Rows as CSV."""

import csv
import io
from collections.abc import Sequence
from typing import Any


def csv_text(rows: Sequence[dict[str, Any]], columns: Sequence[str] | None = None) -> str:
    """Return rows as CSV with a header; None becomes an empty cell. Without rows the columns must be named."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]) if columns is None else columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
