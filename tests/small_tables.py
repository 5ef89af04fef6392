"""Small tables that the tests of the workflow and of its commands share."""

import numpy as np
import pandas as pd


def make_plants(n_rows=90, n_labels=15, seed=5):
    """Return a table of three kinds of plants with numbers, a category and empty cells, and the kind of each row."""
    generator = np.random.default_rng(seed)
    kind = np.arange(n_rows) % 3
    generator.shuffle(kind)
    names = np.array(["fern", "moss", "palm"], dtype=object)[kind]
    height = 10 + 25 * kind + generator.normal(0, 6, n_rows)
    frame = pd.DataFrame(
        {
            "plant": [f"P{number:03d}" for number in range(n_rows)],
            "height": height.round(1).astype(str),
            "leaves": generator.poisson(4 + 9 * kind).astype(str),
            "place": np.where(generator.uniform(size=n_rows) < 0.8, np.array(["bog", "rock", "shore"])[kind], "bog"),
            "kind": "",
        }
    )
    frame.loc[::17, "height"] = ""
    labeled = np.concatenate([np.flatnonzero(kind == k)[: n_labels // 3] for k in range(3)])
    frame.loc[labeled, "kind"] = names[labeled]
    return frame, names


def make_rents(n_rows=120, n_given=40, seed=7):
    """Return a table of apartments, some with a rent, and the rent of each row."""
    generator = np.random.default_rng(seed)
    size = generator.uniform(25, 140, n_rows)
    city = generator.integers(0, 3, n_rows)
    age = generator.uniform(0, 90, n_rows)
    rent = 180 + 9.5 * size + 140 * city - 1.2 * age + generator.normal(0, 35, n_rows)
    given = generator.permutation(n_rows) < n_given
    frame = pd.DataFrame(
        {
            "flat": [f"F{number:03d}" for number in range(n_rows)],
            "size": size.round(1).astype(str),
            "age": age.round().astype(int).astype(str),
            "city": np.array(["Leuven", "Ghent", "Madrid"])[city],
            "rent": [f"{value:.2f}" if known else "" for value, known in zip(rent, given, strict=True)],
        }
    )
    frame.loc[::19, "age"] = ""
    return frame, rent
