"""What an expert may set; everyone else leaves it alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from semikpca._numbers import is_positive_number, is_whole_number
from semikpca.estimators import SemiKPCAClassifierCV, SemiKPCARegressorCV
from semikpca.kernels import shorthands
from semikpca.workflow._views import View


def kernel_names(*, installed: bool = True) -> tuple[str, ...]:
    """Return the names that ``--kernel`` takes: the shorthands of all kernels between the rows of a table."""
    return tuple(name for name in shorthands(installed=installed) if name != "precomputed")


@dataclass(frozen=True)
class LabelingOptions:
    """Settings of the classifier, or of the regressor.

    Attributes
    ----------
    kernel : str or None
        Name of a kernel, or several names with commas between them; None tries many and blends them.
    n_components_removed : int or None
        The paper's k; None is 1.
    error_weight : float or None
        Relative to the bound, inside (0, 1); None is the paper's middle.
    random_state : int
    """

    kernel: str | None = None
    n_components_removed: int | None = None
    error_weight: float | None = None
    random_state: int = 0

    def __post_init__(self) -> None:
        """Refuse what no fit could use, before a file is read."""
        for name in self.kernel_names:
            if name not in kernel_names(installed=False) and name not in (known := kernel_names()):
                close = get_close_matches(name, known, n=1)
                hint = f" Did you mean {close[0]}?" if close else ""
                raise ValueError(f"There is no kernel {name!r}; there are {', '.join(known)}.{hint}")
        if self.kernel is not None and not self.kernel_names:
            raise ValueError(f"--kernel names no kernel; there are {', '.join(kernel_names())}.")
        if self.n_components_removed is not None and not is_whole_number(self.n_components_removed, 0):
            raise ValueError(
                f"The number of removed components must be a whole number, 0 or more, got {self.n_components_removed}."
            )
        if self.error_weight is not None and not (is_positive_number(self.error_weight) and self.error_weight < 1):
            raise ValueError(
                f"The error weight must lie between 0 and 1, got {self.error_weight}: it is a share of the bound "
                "1/λ(k+1), from which on the problem has no solution."
            )

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The names in ``kernel``."""
        return tuple(part.strip() for part in (self.kernel or "").split(",") if part.strip())

    def classifier(self, views: Sequence[View] = ()) -> SemiKPCAClassifierCV:
        """Return the classifier that the options describe, not fitted; by default it looks at all these views."""
        return self._automatic(SemiKPCAClassifierCV, views)  # type: ignore[no-any-return]  # estimators have no types

    def regressor(self, views: Sequence[View] = ()) -> SemiKPCARegressorCV:
        """Return the same for numbers."""
        return self._automatic(SemiKPCARegressorCV, views)  # type: ignore[no-any-return]  # estimators have no types

    def _automatic(self, make: Any, views: Sequence[View]) -> Any:
        kernels: list[Any] = list(self.kernel_names)
        if not kernels:
            kernels = [view.kernels for view in views]
        return make(
            kernels=kernels or None,
            error_weights=None if self.error_weight is None else [self.error_weight],
            n_components_removed=(1 if self.n_components_removed is None else self.n_components_removed,),
            random_state=self.random_state,
        )
