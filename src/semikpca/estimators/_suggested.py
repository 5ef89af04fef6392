"""What all models that label their own training rows keep in mind of them: which were suggested, which none reaches."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from semikpca.decisions import Reach
from semikpca.exceptions import UnreachableRowsWarning, warn_user


class RemembersSuggestions:
    """A model that knows which of its labels were not drawn at random."""

    suggested_rows_: Any

    def remember_suggestions(self, suggested, drawn=()):
        """Remember in ``suggested_rows_`` that labels of some rows, if they come, are not drawn at random.

        Parameters
        ----------
        suggested : array-like of int
            Rows that were chosen to be labeled.
        drawn : array-like of int
            Rows that were drawn at random, whatever was said of them before.
        """
        check_is_fitted(self)
        self.suggested_rows_ = np.setdiff1d(np.union1d(self.suggested_rows_, suggested), drawn).astype(np.intp)


def warn_of_unreachable_rows(reach: Reach, warning: type[UnreachableRowsWarning]) -> None:
    """Warn of rows that no label reaches, and name a row of each of their first pieces."""
    rows = np.flatnonzero(reach.out)
    if rows.size:
        assert reach.components is not None, "rows are out of reach only where there are pieces"
        first = rows[np.unique(reach.components[rows], return_index=True)[1]]
        warn_user(warning(len(rows), len(first), tuple(int(row) for row in np.sort(first)[:5])))
