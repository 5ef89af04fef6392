"""What blends of classes and of numbers share: sums over sources, and what is known of each source."""

from collections.abc import Mapping, Sequence
from functools import reduce
from types import MappingProxyType
from typing import Any

import numpy as np

from semikpca._typing import FloatArray
from semikpca.arrays import allowed_threads, in_threads
from semikpca.blending._columns import NO_COLUMNS, Columns, harder
from semikpca.blending._sources import Source
from semikpca.convexity import ConvexityCertificate
from semikpca.problem import DualSolution, Expansion

NOTHING_KNOWN: Mapping[int, FloatArray] = MappingProxyType({})


class BlendedSources:
    """A blend, as far as it is its sources: made of their columns, and certified by them."""

    sources: tuple[Source, ...]
    columns: tuple[Columns, ...]  # of each source at the labeled rows
    weights: FloatArray  # of the candidates
    results: dict[str, Any]  # a column for each thing that is known of the candidates

    @property
    def best_params(self) -> dict[str, Any]:
        """What is known of the candidate with the largest weight; nothing where there is no candidate."""
        if not len(self.weights):
            return {}
        best = int(np.argmax(self.weights))
        return {name: values[best] for name, values in self.results.items()}

    @property
    def certificates(self) -> list[ConvexityCertificate]:
        """One for each use of Semi-KPCA."""
        return [source.certificate for source in self.sources if source.certificate is not None]

    @property
    def hardest(self) -> DualSolution | None:
        """Of the solves behind the columns the one that left the largest residual, without its arrays."""
        return reduce(harder, [columns.hardest for columns in self.columns], None)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the columns behind: they come back from the rows when they are asked for."""
        return {**self.__dict__, "columns": tuple(NO_COLUMNS for _ in self.sources)}


def expanded(
    sources: Sequence[Source],
    columns: Sequence[Columns],
    coefficients: Mapping[int, FloatArray],
    sums: Mapping[int, FloatArray] = NOTHING_KNOWN,
) -> dict[int, tuple[Expansion, FloatArray]]:
    """Return Σ columns · coefficients of some sources, by their numbers: of new rows, and of the training rows.

    ``sums`` are the same at the training rows where that is known already, a row for each column of coefficients.
    """
    numbers = list(coefficients)
    found: dict[int, tuple[Expansion, FloatArray]] = {}

    def expand(place: int, thread: int) -> None:
        number = numbers[place]
        known = sums[number].T if number in sums else columns[number].times(sources[number], coefficients[number])
        found[number] = sources[number].expand(columns[number].at, coefficients[number], known)

    in_threads(expand, range(len(numbers)), min(allowed_threads(), len(numbers)))
    return {number: found[number] for number in numbers}


def source_columns(sources: Sequence[Source]) -> dict[str, Any]:
    """Return a column for each thing that is known of the sources of candidates, an entry a candidate."""
    return {
        "kernel": np.fromiter((source.kernel for source in sources), dtype=object, count=len(sources)),
        "n_components_removed": np.array([source.n_components_removed for source in sources], dtype=object),
        "error_weight": np.array([source.error_weight or np.nan for source in sources]),
    }


def heaviest_certificate(
    sources: Sequence[Source], used: Sequence[Source], weights: FloatArray
) -> ConvexityCertificate | None:
    """Return the certificate of the use of Semi-KPCA that weighs most, or None where there is none.

    ``used`` and ``weights`` have the source and the weight of each candidate.
    """

    def total(source: Source) -> float:
        return float(sum(weight for other, weight in zip(used, weights, strict=True) if other is source))

    certified = [source for source in sources if source.certificate is not None]
    return max(certified, key=total).certificate if certified else None
