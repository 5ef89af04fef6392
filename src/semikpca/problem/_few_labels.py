"""Labels of very many rows, of which a few are labeled: only these are kept, and y may stay on a cluster."""

from functools import partial
from typing import Any, NoReturn

import numpy as np

from semikpca import labels as coding
from semikpca._typing import IntArray
from semikpca.operators import map_parts

# Labels that are brought to the client from a cluster; a model for so many labels does not need other rows.
MOST_LABELS = 1_000_000


class FewCodes:
    """Class numbers of n rows, very many: -1 but for a few ``rows``, ascending, that have ``values``."""

    def __init__(self, n: int, rows: IntArray, values: IntArray) -> None:
        self.n, self.rows, self.values = int(n), rows, values

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, rows: IntArray) -> IntArray:
        rows = np.asarray(rows)
        places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[places] == rows, self.values[places], coding.UNLABELED)

    def _refuse(self, *ignored: object) -> NoReturn:
        raise NotImplementedError(
            f"This looks at every one of {self.n:,} rows, which stay on the cluster. Use what needs the labeled rows "
            "alone (leave_one_label_out, audit_labels, predict), or fit a sample of the rows on the client."
        )

    __eq__ = __ne__ = __array__ = __iter__ = _refuse
    __hash__ = None  # type: ignore[assignment]  # as for every class that says what == is


class FewLabels(coding.LabelCoding):
    """A :class:`semikpca.labels.LabelCoding` whose ``codes`` are :class:`FewCodes`."""

    codes: Any  # FewCodes, which answer as an array of n numbers would

    @classmethod
    def at(cls, classes: Any, n: int, rows: IntArray, values: IntArray) -> "FewLabels":
        """Return labels by the rows that have one, of n rows; see :class:`FewCodes`."""
        codes: Any = FewCodes(n, rows, values)
        return cls(classes, codes)

    @classmethod
    def of(cls, labels: coding.LabelCoding) -> "FewLabels":
        """Return the same labels without a number for each row."""
        rows = labels.labeled_rows
        return cls.at(labels.classes, len(labels.codes), rows, labels.codes[rows])

    @property
    def labeled_rows(self) -> IntArray:
        return np.asarray(self.codes.rows)

    def changed(self, rows: IntArray, codes: IntArray) -> "FewLabels":
        all_rows, first = np.unique(np.concatenate([rows, self.codes.rows]), return_index=True)
        all_values = np.concatenate([codes, self.codes.values])[first]  # the first of two is the new one
        labeled = all_values != coding.UNLABELED
        return FewLabels.at(self.classes, self.codes.n, all_rows[labeled], all_values[labeled])


def labels_on_cluster(y: Any) -> FewLabels:
    """Return the labels in a lazy array or series, by the same rules as :func:`semikpca.labels.encode`."""
    if y.ndim == 2 and y.shape[1] == 1 and hasattr(y, "rechunk"):
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y must be one column of labels, got shape {y.shape}. Pass one, such as df['label'].")
    found = map_parts(partial(_PartLabels, minus_one_is_a_class=False), y)
    if any(part.n_missing for part in found) and any(part.n_minus_one for part in found):
        # Somewhere None or NaN marks unlabeled rows, so that -1 is a class everywhere.
        found = map_parts(partial(_PartLabels, minus_one_is_a_class=True), y)
    n_given = sum(part.n_given for part in found)
    if n_given > MOST_LABELS:
        raise ValueError(
            f"{n_given:,} rows of y are labeled, and up to {MOST_LABELS:,} labels are brought to the client. Mark most "
            "of them as unlabeled (-1, None or NaN)."
        )
    starts = np.cumsum([0, *(part.n for part in found)])
    rows = np.concatenate([part.places + start for part, start in zip(found, starts[:-1], strict=True)])
    given = coding.encode_given(np.concatenate([part.labels for part in found]), int(starts[-1]))
    return FewLabels.at(given.classes, int(starts[-1]), rows, given.codes)


class _PartLabels:
    """What is known of the labels in a part of y."""

    def __init__(self, part: Any, minus_one_is_a_class: bool) -> None:
        places, labels = coding.labels_in(part, minus_one_is_a_class=minus_one_is_a_class)
        self.n, self.n_given = len(part), len(places)
        n_not_missing = len(coding.labels_in(part, minus_one_is_a_class=True)[0])
        self.n_missing, self.n_minus_one = self.n - n_not_missing, n_not_missing - self.n_given
        self.places, self.labels = places[:MOST_LABELS], labels[:MOST_LABELS]
