"""Figures drawn by several processes side by side."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from joblib import Parallel, delayed

from semikpca.experiments import WithParent

Drawing = TypeVar("Drawing")


def drawings(
    displays: Mapping[str, Any], draw: Callable[[Any], Drawing], jobs: int, progress: Callable[[int, int], None]
) -> Iterator[tuple[str, Drawing]]:
    """Yield what ``draw`` makes of each display, by name and in order; report the number done once each is used."""
    parallel: Any = Parallel(n_jobs=jobs, return_as="generator")
    made = parallel(map(delayed(WithParent.here(draw)), displays.values()))
    for number, (name, drawing) in enumerate(zip(displays, made, strict=True), start=1):
        yield name, drawing
        progress(number, len(displays))
