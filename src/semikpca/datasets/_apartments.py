"""Apartments: a table as people have it, with numbers, categories and empty cells, in which few rows have a rent."""

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_random_state

from semikpca._numbers import is_whole_number

if TYPE_CHECKING:
    import pandas as pd

# What a square meter costs, and how far from the middle of the town its districts are.
CITIES = {"Leuven": 13.0, "Ghent": 11.5, "Madrid": 15.5, "Porto": 9.5}
DISTRICTS = {"center": 0.0, "station": 1.5, "north": 3.0, "harbor": 4.5, "outskirts": 7.0}
HEATING = {"gas": 0.0, "district heating": 20.0, "heat pump": 60.0, "electric": -25.0}
_MISSING = 0.06  # of the cells of some columns


def make_apartments(
    n_rows: int = 500,
    n_given: int = 60,
    random_state: "int | np.random.RandomState | None" = 0,
    *,
    return_truth: bool = False,
) -> "pd.DataFrame | tuple[pd.DataFrame, np.ndarray]":
    """Return made-up apartments of which a few have a rent.

    Parameters
    ----------
    n_rows : int, default=500
        Apartments in all, ``n_given`` or more.
    n_given : int, default=60
        Apartments whose rent is given, two or more, drawn at random.
    random_state : int, RandomState or None, default=0
    return_truth : bool, default=False
        Also return the rent of every apartment.

    Returns
    -------
    apartments : DataFrame
        ``apartment_id``, ``city``, ``district``, ``size`` (m²), ``rooms``, ``built`` (a year), ``floor``, ``heating``,
        ``balcony`` and ``rent``, which is "" where it is to be found out. Some years and floors are missing.
    truth : ndarray of shape (n_rows,)
        Only with ``return_truth``.

    Examples
    --------
    >>> make_apartments(3, 2)["rent"].tolist()
    ['473.80', '', '520.00']
    """
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Apartments are a pandas table: pip install 'semikpca[label]'", name="pandas"
        ) from error

    if not is_whole_number(n_given, 2) or not is_whole_number(n_rows, n_given):
        raise ValueError(f"n_given must be 2 or more and n_rows as many or more, got {n_given} and {n_rows}.")
    generator = check_random_state(random_state)
    city, district, heating = (generator.choice(list(names), n_rows) for names in (CITIES, DISTRICTS, HEATING))
    size = np.round(np.clip(generator.lognormal(4.2, 0.35, n_rows), 22, 190), 1)
    rooms = np.clip(np.round(size / 27 + generator.normal(0, 0.5, n_rows)), 1, 6).astype(int)
    built = generator.randint(1905, 2024, n_rows)
    floor = generator.randint(0, 9, n_rows)
    balcony = generator.uniform(size=n_rows) < 0.5
    price = np.array([CITIES[name] for name in city]) * np.exp(-0.06 * np.array([DISTRICTS[name] for name in district]))
    age = (2024 - built) / 100
    rent = price * size**0.93 * (1 + 0.35 * (age - 0.6) ** 2) + 8 * floor + 35 * balcony
    rent = rent + np.array([HEATING[name] for name in heating]) + generator.normal(0, 45, n_rows)
    rent = np.round(np.maximum(rent, 180), -1) + generator.choice([0, 0, 0, 3.8, 5], n_rows)
    given = np.zeros(n_rows, dtype=bool)
    given[generator.permutation(n_rows)[:n_given]] = True

    def with_gaps(values: np.ndarray) -> list[str]:
        gaps = generator.uniform(size=n_rows) < _MISSING
        return ["" if gap else str(value) for value, gap in zip(values, gaps, strict=True)]

    frame = pd.DataFrame(
        {
            "apartment_id": [f"A-{1000 + number}" for number in range(n_rows)],
            "city": city,
            "district": district,
            "size": size.astype(str),
            "rooms": rooms.astype(str),
            "built": with_gaps(built),
            "floor": with_gaps(floor),
            "heating": heating,
            "balcony": np.where(balcony, "yes", "no"),
            "rent": [f"{value:.2f}" if known else "" for value, known in zip(rent, given, strict=True)],
        }
    )
    return (frame, rent) if return_truth else frame
