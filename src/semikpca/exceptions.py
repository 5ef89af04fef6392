"""Every error and warning of the package; each carries its numbers as attributes.

All arguments go to ``super().__init__`` so that an exception survives pickling out of a parallel worker.
"""

import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parent)


def warn_user(warning: Warning) -> None:
    """Give a warning at the line outside of the package that led to it, however deep inside it was seen."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


class UnboundedProblemError(ValueError):
    """The error weight is at or above the end of the convex interval (Theorem 2, case ii)."""

    def __init__(self, error_weight: float, error_weight_max: float, n_components_removed: int) -> None:
        super().__init__(error_weight, error_weight_max, n_components_removed)
        self.error_weight, self.error_weight_max = error_weight, error_weight_max
        self.n_components_removed = n_components_removed

    def __str__(self) -> str:
        return (
            f"error_weight={self.error_weight:.6g} (absolute; {self.error_weight / self.error_weight_max:.6g} of the "
            f"bound) leaves the problem unbounded: with n_components_removed={self.n_components_removed} it must stay "
            f"below {self.error_weight_max:.6g}. Lower error_weight, remove more components, or use "
            "error_weight_unit='relative' with a value between 0 and 1."
        )


class SeveralMinimaError(UnboundedProblemError):
    """The error weight is at or above the end of the convex interval, with a loss whose derivative is bounded.

    The objective then has a lower bound, unlike that of the squared loss, but need not be convex, and which of several
    minima a fit would find would depend on where it begins. It is an :class:`UnboundedProblemError`, so that whoever
    handles weights beyond the bound handles both.
    """

    def __init__(self, error_weight: float, error_weight_max: float, n_components_removed: int, loss: str) -> None:
        super().__init__(error_weight, error_weight_max, n_components_removed)
        self.args = (*self.args, loss)
        self.loss = loss

    def __str__(self) -> str:
        return (
            f"error_weight={self.error_weight:.6g} (absolute; {self.error_weight / self.error_weight_max:.6g} of the "
            f"bound) is beyond the convex interval: with loss={self.loss} the problem is bounded there, but may have "
            f"several minima. With n_components_removed={self.n_components_removed} it must stay below "
            f"{self.error_weight_max:.6g}. Lower error_weight, remove more components, or use "
            "error_weight_unit='relative' with a value between 0 and 1."
        )


class NotLinearError(ValueError):
    """Something was asked for that only decisions have which are linear in the labels: those of the squared loss."""

    def __init__(self, asked: str, loss: str, remedy: str) -> None:
        super().__init__(asked, loss, remedy)
        self.asked, self.loss, self.remedy = asked, loss, remedy

    def __str__(self) -> str:
        linear = "is there where decisions are linear in the labels"
        return f"{self.asked} {linear}; with loss={self.loss} they are not. {self.remedy}"


class KernelRankError(ValueError):
    """As many components were removed as the kernel matrix has, or more: nothing is left to learn with."""

    def __init__(self, requested: int, removed: int, rank: int, n_samples: int) -> None:
        super().__init__(requested, removed, rank, n_samples)
        self.requested, self.removed, self.rank, self.n_samples = requested, removed, rank, n_samples

    def __str__(self) -> str:
        matrix = f"the kernel matrix of these {self.n_samples} rows has rank {self.rank}"
        remedy = "Lower n_components_removed or use another kernel."
        if self.requested < self.rank:
            return (
                f"n_components_removed={self.requested} cuts through a repeated eigenvalue, which can only be removed "
                f"whole, and then nothing is left: {matrix}. {remedy}"
            )
        if self.rank == 1 and self.n_samples > 1:
            remedy += (
                " Rank 1 means that the kernel cannot tell the rows apart: are all rows of X equal, or is the kernel "
                "coefficient far too small?"
            )
        return (
            f"n_components_removed={self.requested} leaves nothing: {matrix}, so at most {max(self.rank - 1, 0)} "
            f"components can be removed. {remedy}"
        )


class IndistinguishableRowsError(ValueError):
    """The rows are all equal, or nearly so: no kernel can tell them apart."""

    def __init__(self, n_samples: int) -> None:
        super().__init__(n_samples)
        self.n_samples = n_samples

    def __str__(self) -> str:
        rows = f"The {self.n_samples} rows of X"
        return f"{rows} are all equal, or nearly so: nothing tells them apart. Give other features."


class IndefiniteKernelError(ValueError):
    """The matrix is no kernel: it has a negative eigenvalue beyond rounding."""

    def __init__(self, smallest_eigenvalue: float, largest_eigenvalue: float) -> None:
        super().__init__(smallest_eigenvalue, largest_eigenvalue)
        self.smallest_eigenvalue, self.largest_eigenvalue = smallest_eigenvalue, largest_eigenvalue

    def __str__(self) -> str:
        return (
            "The kernel matrix is not positive semi-definite: its smallest eigenvalue is "
            f"{self.smallest_eigenvalue:.6g} (largest {self.largest_eigenvalue:.6g}). Use a positive semi-definite "
            f"kernel, or shift the matrix yourself: K + {-self.smallest_eigenvalue:.6g} I is one."
        )


class DegenerateSpectrumWarning(UserWarning):
    """The cut after component k falls inside a repeated eigenvalue; its whole eigenspace was removed."""

    def __init__(self, requested: int, removed: int, eigenvalue: float) -> None:
        super().__init__(requested, removed, eigenvalue)
        self.requested, self.removed, self.eigenvalue = requested, removed, eigenvalue

    def __str__(self) -> str:
        return (
            f"n_components_removed={self.requested} cuts through the repeated eigenvalue {self.eigenvalue:.6g}: which "
            f"of its eigenvectors to remove is undefined. The whole eigenspace was removed, {self.removed} components "
            f"in all. Set n_components_removed={self.removed} to say so yourself."
        )


class SingleClassWarning(UserWarning):
    """All given labels are of one class, so every row gets that class."""

    def __init__(self, label: object) -> None:
        super().__init__(label)
        self.label = label

    def __str__(self) -> str:
        return f"All given labels are {self.label!r}, so every row gets that class. Label a row of another class."


class UnlabeledMarkWarning(UserWarning):
    """Labels are text that looks like the mark of an unlabeled row, and are taken as classes."""

    def __init__(self, labels: tuple[str, ...], n_rows: int) -> None:
        super().__init__(labels, n_rows)
        self.labels, self.n_rows = labels, n_rows

    def __str__(self) -> str:
        found = f"{' and '.join(map(repr, self.labels))} ({'1 row' if self.n_rows == 1 else f'{self.n_rows:,} rows'})"
        classes = "The label {} is text and a class" if len(self.labels) == 1 else "The labels {} are text and classes"
        return f"{classes.format(found)}. If that means no label, mark such rows with None or NaN."


class UnreachableRowsWarning(UserWarning):
    """The neighbor graph has pieces without a label; nothing is known of their rows but the shares of the classes."""

    def __init__(self, n_rows: int, n_components: int, rows: tuple[int, ...]) -> None:
        super().__init__(n_rows, n_components, rows)
        self.n_rows, self.n_components, self.rows = n_rows, n_components, rows

    def __str__(self) -> str:
        pieces = "1 piece" if self.n_components == 1 else f"{self.n_components} pieces"
        named = ", ".join(str(row) for row in self.rows)
        return (
            f"No label reaches {self.n_rows} rows, in {pieces} of the graph (unreachable_rows_): they get the shares "
            "of the classes as probabilities, and the class of the largest share. Label one row of each piece (such "
            f"as {named}), raise n_neighbors, or use another kernel."
        )


class UnreachableValuesWarning(UnreachableRowsWarning):
    """The neighbor graph has pieces without a label; nothing is known of the numbers of their rows but the mean."""

    def __str__(self) -> str:
        pieces = "1 piece" if self.n_components == 1 else f"{self.n_components} pieces"
        named = ", ".join(str(row) for row in self.rows)
        return (
            f"No label reaches {self.n_rows} rows, in {pieces} of the graph (unreachable_rows_): they get the mean of "
            f"the given numbers. Label one row of each piece (such as {named}), raise n_neighbors, or use another "
            "kernel."
        )


class KernelMemoryError(MemoryError):
    """A kernel matrix would take more memory than there is, or than is allowed."""

    def __init__(self, what: str, n_rows: int, needed: int, allowed: int, is_budget: bool = False) -> None:
        super().__init__(what, n_rows, needed, allowed, is_budget)
        self.what, self.n_rows = what, n_rows
        self.needed, self.allowed, self.is_budget = needed, allowed, is_budget

    def __str__(self) -> str:
        allowed = f"{self.allowed / 2**30:.1f} GiB are {'allowed' if self.is_budget else 'there'}"
        remedy = (
            "Use fewer rows, a Nystroem kernel, or allow more with sklearn.set_config(working_memory=...), in MiB."
            if self.is_budget
            else "Use backend='blocked', which keeps none of it, a Nystroem kernel, or fewer rows."
        )
        return f"{self.what} of {self.n_rows:,} rows takes {self.needed / 2**30:.1f} GiB, and {allowed}. {remedy}"


class RecordError(ValueError):
    """A stored result is missing, damaged, or belongs to another run."""


class DatasetError(ValueError):
    """A data set is unknown, not installed, or not the one that was expected."""


class TableError(ValueError):
    """A table cannot be read, or cannot be learned from; the message says where and what to do."""


class TextEncoderError(ValueError):
    """A text encoder is not there, or is another one than a model was made with; the message says what to do."""


class ModelFileError(ValueError):
    """A file is no model of this package, or no longer the one that was saved; nothing of it was run."""


class ClusterError(RuntimeError):
    """A Dask cluster is not there, or did not come to an end; the message says what happened and what to do."""
