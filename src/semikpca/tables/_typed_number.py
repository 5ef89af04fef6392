"""One number as a person types it."""

import re

from semikpca.exceptions import TableError
from semikpca.tables._features import LARGEST_NUMBER

_SPACES = str.maketrans("", "", " \u00a0\u202f_'’")  # that people put between thousands
_PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?")
_GROUPED = re.compile(r"[-+]?\d{1,3}(?P<group>[.,])\d{3}((?P=group)\d{3})*(?P<rest>[.,]\d*)?")
_LONGEST_SHOWN = 40


def typed_number(text: str) -> float:
    """Return the number that a text says: with a decimal point or comma, and with blanks between thousands.

    Where both signs are in it, the last is the decimal one. One comma with three digits behind it may be either, so it
    is refused: nobody would notice a number that is wrong by a thousand.

    Examples
    --------
    >>> typed_number("850,5"), typed_number("1 200"), typed_number("1.234,5"), typed_number("-2e3")
    (850.5, 1200.0, 1234.5, -2000.0)
    """
    shown = repr(text.strip()[:_LONGEST_SHOWN])
    plain = text.strip().translate(_SPACES).replace("\u2212", "-")
    if not plain:
        raise TableError("Type a number first.")
    grouped = _GROUPED.fullmatch(plain)
    if grouped and grouped["rest"] and grouped["rest"][0] != grouped["group"]:
        plain = plain.replace(grouped["group"], "").replace(",", ".")
    elif grouped and plain.count(",") > 1:
        plain = plain.replace(",", "")
    elif grouped and grouped["group"] == "," and not grouped["rest"] and plain.lstrip("+-")[0] != "0":
        point, none = plain.replace(",", "."), plain.replace(",", "")
        raise TableError(f"{shown} may be {point} or {none}. Type it with a point, or without the comma.")
    elif plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    if not _PLAIN.fullmatch(plain):
        raise TableError(f"{shown} is no number. Type digits, such as 850 or 12.5.")
    value = float(plain)
    if abs(value) > LARGEST_NUMBER:
        raise TableError(f"{shown} is too large to compute with.")
    return value + 0.0  # no negative zero
