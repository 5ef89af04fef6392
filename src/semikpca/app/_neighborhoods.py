"""Another map of the same rows: t-SNE, which keeps neighbors together. Needs the extra ``layout``.

It takes seconds to minutes, so it is computed beside the page, once for the same rows, and kept between starts.
"""

import io
import logging
import os
import sys
import threading
from collections.abc import Callable
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from semikpca._files import write_whole
from semikpca._typing import FloatArray

logger = logging.getLogger("semikpca")

EXTRA = "layout"
_PACKAGE = "openTSNE"
_SEED = 0
# The usual numbers: neighbors that count (fewer in a table of a few rows), and steps, of which the first pull groups
# apart.
_PERPLEXITY, _STEPS = 30, (250, 500)
_FEWEST_ROWS = 5
_STEPS_BETWEEN_REPORTS = 10
_MOST_KEPT = 10  # files in a folder; the oldest go
_POLITE = 10  # how much a click comes before it, in steps of "nice"


class StoppedError(Exception):
    """Nobody waits for the layout any more."""


def is_installed() -> bool:
    """Return whether the package that makes the layout is there."""
    return find_spec(_PACKAGE) is not None


def key_of(X: FloatArray) -> str:
    """Return what tells the layout of these rows from any other: their numbers, the settings and the version."""
    try:
        release = version(_PACKAGE)
    except PackageNotFoundError:
        release = "none"
    digest = sha256(repr((release, _SEED, _PERPLEXITY, _STEPS, X.shape)).encode())
    digest.update(np.ascontiguousarray(X, dtype="<f4").tobytes())
    return digest.hexdigest()


def neighborhoods(X: FloatArray, start: FloatArray, report: Callable[[int, int], bool]) -> FloatArray:
    """Return places on a plane where neighbors lie together, the same each time.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    start : ndarray of shape (n_rows, 2)
        Where rows are at first, such as their components: groups then keep their places relative to each other.
    report : callable
        Told how many steps are done, and of how many; what it says is whether to go on.
    """
    if len(X) < _FEWEST_ROWS:
        return start
    from openTSNE import TSNE  # the extra

    done = 0

    def go_on(step: int, error: float, places: FloatArray) -> None:
        nonlocal done
        done += _STEPS_BETWEEN_REPORTS
        if not report(min(done, sum(_STEPS)), sum(_STEPS)):
            raise StoppedError

    rows = np.ascontiguousarray(X, dtype=np.float64)
    spread = start.std(axis=0)
    # As small as t-SNE wants it, and no two rows in one place, where they would pull each other nowhere.
    begin = 1e-4 * start / np.where(spread > 0, spread, 1.0)
    begin = begin + 1e-6 * np.random.default_rng(_SEED).standard_normal(begin.shape)
    model = TSNE(
        perplexity=min(_PERPLEXITY, (len(rows) - 1) / 3),
        initialization=begin,
        early_exaggeration_iter=_STEPS[0],
        n_iter=_STEPS[1],
        n_jobs=1,
        random_state=_SEED,
        callbacks=go_on,
        callbacks_every_iters=_STEPS_BETWEEN_REPORTS,
    )
    return np.asarray(model.fit(rows), dtype=float)


class KeptLayouts:
    """Layouts in a folder, under names made of what they were computed from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, key: str, n_rows: int) -> FloatArray | None:
        """Return a layout, or None where there is none that is whole."""
        try:
            content = io.BytesIO((self.folder / f"{key}.npy").read_bytes())
            places = np.load(content, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        is_whole = places.shape == (n_rows, 2) and places.dtype == np.float32 and bool(np.isfinite(places).all())
        return places.astype(float) if is_whole else None

    def save(self, key: str, places: FloatArray) -> None:
        """Keep a layout; where nothing can be written it is computed again next time."""
        content = io.BytesIO()
        np.save(content, places.astype(np.float32), allow_pickle=False)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self.folder / f"{key}.npy", content.getvalue())
            newest = sorted(self.folder.glob("*.npy"), key=lambda file: file.stat().st_mtime, reverse=True)
            for file in newest[_MOST_KEPT:]:
                file.unlink(missing_ok=True)
        except OSError as error:
            logger.info("The layout of the map is not kept in %s: %s", self.folder, error)


class Computation:
    """One layout that is being computed in a thread of its own."""

    def __init__(self, X: FloatArray, start: FloatArray, kept: KeptLayouts, ready: Callable[["Computation"], None]):
        self.places: FloatArray | None = None
        self.problem: str | None = None
        self.done, self.total = 0, sum(_STEPS)
        self._X, self._start, self._kept, self._ready = X, start, kept, ready
        self._wanted = True
        self.thread = threading.Thread(target=self._run, name="layout", daemon=True)

    def begin(self) -> None:
        """Begin, and call ``ready`` from the thread when it is done or has failed."""
        self.thread.start()

    def stop(self) -> None:
        """Let it end at the next step."""
        self._wanted = False

    def _run(self) -> None:
        if sys.platform == "linux":  # there a thread can stand back by itself
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _POLITE)
        try:
            places = neighborhoods(self._X, self._start, self._report)
            self._kept.save(key_of(self._X), places)
            self.places = places
        except StoppedError:
            return
        except Exception as error:  # the border of a thread: the page says what happened
            logger.exception("The layout of the map failed")
            self.problem = f"{type(error).__name__}: {error}"
        if self._wanted:
            self._ready(self)

    def _report(self, done: int, total: int) -> bool:
        self.done, self.total = done, total
        return self._wanted
