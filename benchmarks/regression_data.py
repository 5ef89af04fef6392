"""Rows with a number each, for the benchmark of regression: those that scikit-learn carries, and a folder of arrays.

Part of ``bench_regression.py``, which says what it is for.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.ndimage import rotate
from sklearn.datasets import (
    load_diabetes,
    load_digits,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_s_curve,
    make_sparse_uncorrelated,
    make_swiss_roll,
)
from sklearn.preprocessing import StandardScaler

Table = tuple[np.ndarray, np.ndarray]
_DIGIT, _N_IMAGES, _LARGEST_ANGLE = 3, 600, 90.0


def rotated_digits() -> Table:
    """Return images of one digit, each turned by an angle that is the target."""
    rng = np.random.default_rng(0)
    digits = load_digits()
    images = digits.images[digits.target == _DIGIT]
    chosen = images[rng.integers(0, len(images), _N_IMAGES)]
    angles = rng.uniform(-_LARGEST_ANGLE, _LARGEST_ANGLE, _N_IMAGES)
    turned = [rotate(image, angle, reshape=False, order=1) for image, angle in zip(chosen, angles, strict=True)]
    return np.stack(turned).reshape(_N_IMAGES, -1), angles


# The last four were not looked at when defaults were chosen.
PACKAGED: dict[str, Callable[[], Table]] = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "friedman1": lambda: make_friedman1(500, n_features=10, noise=1.0, random_state=0),
    "rotated digits": rotated_digits,
    "swiss roll": lambda: make_swiss_roll(1000, noise=0.05, random_state=0),
    "friedman2": lambda: make_friedman2(500, noise=50.0, random_state=0),
    "friedman3": lambda: make_friedman3(500, noise=0.1, random_state=0),
    "s curve": lambda: make_s_curve(800, noise=0.05, random_state=0),
    "sparse": lambda: make_sparse_uncorrelated(400, random_state=0),
}


def data_sets(folder: Path | None, names: Sequence[str]) -> dict[str, Table]:
    """Return the sets of these names, or all: standardized rows, and targets."""
    sources = dict(PACKAGED)
    for path in sorted(folder.glob("*.npz")) if folder else []:
        sources[path.stem] = _reader(path)
    unknown = sorted(set(names) - set(sources))
    if unknown:
        raise SystemExit(f"There is no set {unknown[0]!r}; there are {', '.join(sources)}.")
    found = {}
    for name in names or sources:
        X, y = sources[name]()
        found[name] = StandardScaler().fit_transform(X), np.asarray(y, dtype=float)
    return found


def _reader(path: Path) -> Callable[[], Table]:
    def read() -> Table:
        with np.load(path) as arrays:
            return arrays["X"].astype(float), arrays["y"].astype(float)

    return read
