"""What every target shares: which ends are allowed, and how odd inputs are made of bytes."""

import traceback
import warnings
from contextlib import contextmanager

from sklearn.exceptions import DataConversionWarning

from semikpca.exceptions import (
    DegenerateSpectrumWarning,
    SingleClassWarning,
    UnlabeledMarkWarning,
    UnreachableRowsWarning,
)

REFUSALS = (ValueError, TypeError)
# Sentences for the user, each with a class of its own. Every other warning is a fault.
MEANT = (
    DegenerateSpectrumWarning,
    SingleClassWarning,
    UnlabeledMarkWarning,
    UnreachableRowsWarning,
    DataConversionWarning,
)
SHORTEST_MESSAGE = 20  # characters; "invalid input" says nothing


def refusal(error):
    """Return the message of an error that was raised on purpose; one that merely happened is a fault.

    It was on purpose where the last line that ran is a ``raise`` of the package, or of scikit-learn's validation.
    """
    last = traceback.extract_tb(error.__traceback__)[-1]
    ours = "/semikpca/" in last.filename or "/sklearn/utils/" in last.filename
    on_purpose = ours and (last.line or "").startswith("raise")
    if not on_purpose or len(str(error)) < SHORTEST_MESSAGE:
        raise AssertionError(f"{type(error).__name__} in {last.filename}:{last.lineno}: {error}") from error
    return str(error)


@contextmanager
def no_warnings():
    """Make every warning an error that is not meant for the user."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in MEANT:
            warnings.simplefilter("ignore", category)
        # pandas 2 on NumPy 2.5; see the filters in pyproject.toml, which do not reach into a harness of its own.
        warnings.filterwarnings("ignore", "The 'generic' unit for NumPy timedelta", DeprecationWarning)
        yield


class Choices:
    """Choices that are read from bytes, one byte each; when they run out, every choice is the first one."""

    def __init__(self, data):
        self._rest = list(reversed(data))

    def __len__(self):
        return len(self._rest)

    def number(self, n):
        """Return a number from 0 to n − 1."""
        return self._rest.pop() % n if self._rest else 0

    def one_of(self, options):
        """Return one of several options."""
        return options[self.number(len(options))]
