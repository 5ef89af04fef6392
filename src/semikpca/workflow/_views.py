"""Views of a table: parts of its columns that kernels see, so that left-out labels decide which of them matter."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from semikpca._typing import FloatArray
from semikpca.kernels import DefaultKernels, Kernel, OnColumns
from semikpca.tables import TableToNumbers, feature_kinds, feature_places
from semikpca.workflow._unrelated import unrelated_columns

_ADDS_NOTHING = 0.05  # the share in the blend below which a view is said to add nothing
_DECIDES = 0.8  # and the one from which on it decides
# The kinds of columns that are one view together: text is compared by its meaning, categories by being the same.
_GROUPS = {"the text": ("text",), "numbers and dates": ("numbers", "dates"), "categories": ("categories",)}
EVERYTHING = "all columns together"


@dataclass(frozen=True)
class View:
    """Some columns of a table, in words and as the places of the numbers that they became; () stands for all.

    Of texts and vectors it is known where 0 is, which tables of numbers have moved to their mean: ``origin``.
    """

    name: str
    table_columns: tuple[str, ...]
    places: tuple[int, ...]
    origin: tuple[float, ...] | None = field(default=None, repr=False)
    needs_labels: bool = False  # whether labels alone can tell that these columns matter

    @property
    def kernels(self) -> DefaultKernels:
        """What is tried on these columns."""
        return DefaultKernels(self.places or None, self.origin, self.needs_labels)


def views_of(vectorizer: TableToNumbers) -> tuple[View, ...]:
    """Return the whole table, and the parts of it that are worth a look of their own.

    All text, each text column, each vector, numbers and dates, and categories; what is the whole table, or another view
    already, is left out.
    """
    kinds, places = feature_kinds(vectorizer), feature_places(vectorizer)
    groups = [(name, [c for kind in members for c in kinds.get(kind, ())]) for name, members in _GROUPS.items()]
    groups += [(repr(name), [name]) for kind in ("text", "vectors") for name in kinds.get(kind, ())]
    every = tuple(name for name, numbers in places.items() if numbers and name not in vectorizer.joined_)
    views = {frozenset(every): View(EVERYTHING, every, (), _origin(_as_one(every, vectorizer), vectorizer))}
    for name, columns in groups:
        if columns:
            parts = _as_one(columns, vectorizer)
            numbers = tuple(sorted(number for part in parts for number in places[part]))
            views.setdefault(frozenset(columns), View(name, tuple(columns), numbers, _origin(parts, vectorizer)))
    return tuple(views.values())


def judged_views(vectorizer: TableToNumbers, X: FloatArray) -> tuple[View, ...]:
    """Return the views of a table, told which of them labels alone can speak for.

    Rows of the same categories are the nearest neighbors of each other, whatever the categories are about, so that any
    labels agree with them. Numbers that have nothing to do with any other column are chance.
    """
    views, places = views_of(vectorizer), feature_places(vectorizer)
    if len(views) < 2:
        return views
    joined = {part for parts in vectorizer.joined_.values() for part in parts}
    unrelated = unrelated_columns(X, {name: numbers for name, numbers in places.items() if name not in joined})

    def needs_labels(name: str) -> bool:
        kind = vectorizer.kinds_[name]
        return kind == "category" or (kind in ("number", "date") and name in unrelated)

    return tuple(
        replace(view, needs_labels=bool(view.places) and all(map(needs_labels, view.table_columns))) for view in views
    )


def _as_one(columns: Sequence[str], vectorizer: TableToNumbers) -> list[str]:
    """Return what stands for columns: texts that were read as one stand for each of them where all are there."""
    for one, parts in vectorizer.joined_.items():
        if set(parts) <= set(columns):
            return [one, *(column for column in columns if column not in parts)]
    return list(columns)


def _origin(parts: Sequence[str], vectorizer: TableToNumbers) -> tuple[float, ...] | None:
    """Return where 0 is among the numbers of some columns, in their order; None unless all of them are embeddings."""
    if any(name not in vectorizer.embedded_ and vectorizer.kinds_[name] != "vector" for name in parts):
        return None
    moved = {name: -vectorizer.centers_[name] * vectorizer.scales_[name] for name in parts}
    places = feature_places(vectorizer)
    ordered = sorted((place, value) for name in parts for place, value in zip(places[name], moved[name], strict=True))
    return tuple(float(value) for _, value in ordered)


def view_shares(views: Sequence[View], kernels: Iterable[Kernel], weights: Iterable[float]) -> dict[str, float]:
    """Return the share of each view in a blend, heaviest first."""
    shares = dict.fromkeys([view.name for view in views], 0.0)
    for kernel, weight in zip(kernels, weights, strict=True):
        shares[view_of(views, kernel).name] += float(weight)
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def view_of(views: Sequence[View], kernel: Kernel) -> View:
    """Return the view that a fitted kernel sees."""
    inside: Any = kernel
    while not isinstance(inside, OnColumns) and hasattr(inside, "kernel_"):
        inside = inside.kernel_
    places = tuple(inside.columns) if isinstance(inside, OnColumns) else ()
    return next(view for view in views if view.places == places)


def in_words(views: Sequence[View], shares: dict[str, float]) -> str:
    """Return a sentence on which columns matter; "" where there is one view only."""
    if len(views) < 2:
        return ""
    first, share = next(iter(shares.items()))
    columns = {view.name: view.table_columns for view in views}
    used = {c for view in views if view.places and shares[view.name] >= _ADDS_NOTHING for c in view.table_columns}
    idle = [c for c in columns[EVERYTHING] if c not in used]
    little = shares[EVERYTHING] >= _ADDS_NOTHING  # they count as far as all columns together do
    rest = (
        f"; {_joined(idle)} {'adds' if len(idle) == 1 else 'add'} {'little' if little else 'nothing'}" if idle else ""
    )
    if share >= _DECIDES:
        named = f" ({_joined(columns[first])})" if first in _GROUPS and len(columns[first]) < 4 else ""
        verb = "decide" if first in (EVERYTHING, "numbers and dates", "categories") else "decides"
        return f"{first[:1].upper()}{first[1:]}{named} {verb}{'' if first == EVERYTHING else rest}."
    parts = [f"{name} ({part:.0%})" for name, part in shares.items() if part >= _ADDS_NOTHING]
    return f"The labels follow {_joined(parts)}{'' if little else rest}."


def _joined(names: Sequence[str], most: int = 6) -> str:
    shown = [*names[:most], f"{len(names) - most} more"] if len(names) > most else list(names)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
