"""Support tickets: a table as people have it, with text, categories, numbers, dates, empty cells and few labels."""

import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from semikpca._numbers import is_whole_number
from semikpca._typing import IntArray

if TYPE_CHECKING:
    import pandas as pd

LABELS_OF_EACH = 3  # so that every category is known, and a label can be left out of each
# What people write to a telephone company, by category and case, and what else differs between categories. Each is
# mentioned in passing in the others: people pay, log in and wait for parcels whatever they write about.
WORDS: dict[str, Any] = json.loads(files("semikpca.datasets").joinpath("support_tickets.json").read_text("utf-8"))
SHARES: dict[str, float] = WORDS["shares"]
CHOICE = re.compile(r"\[(?P<parts>[^][{}]*)\]|\{(?P<slot>\w+)\}")  # the innermost first


def make_support_tickets(
    n_rows: int = 600,
    n_labels: int = 40,
    random_state: "int | np.random.RandomState | None" = 0,
    *,
    return_truth: bool = False,
) -> "pd.DataFrame | tuple[pd.DataFrame, np.ndarray]":
    """Return made-up mails and chats to a telephone company of which a few are sorted into categories.

    Parameters
    ----------
    n_rows : int, default=600
        Tickets in all, ``n_labels`` or more.
    n_labels : int, default=40
        Tickets whose category is given, at least three of each of the five categories.
    random_state : int, RandomState or None, default=0
    return_truth : bool, default=False
        Also return the category of every ticket.

    Returns
    -------
    tickets : DataFrame
        ``ticket_id``, ``opened`` (a date), ``channel``, ``product``, ``plan``, ``subject``, ``message``, ``n_replies``,
        ``hours_open``, ``satisfaction`` (1 to 5) and ``category``, which is "" where it is to be found out. Some plans,
        subjects, hours and most ratings are missing; some messages hold HTML, quoted mail or two topics.
    truth : ndarray of str, shape (n_rows,)
        Only with ``return_truth``.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("Tickets are a pandas table: pip install 'semikpca[label]'", name="pandas") from error

    fewest = LABELS_OF_EACH * len(SHARES)
    if not is_whole_number(n_labels, fewest):
        raise ValueError(f"n_labels must be a whole number, {fewest} or more, three a category, got {n_labels!r}.")
    if not is_whole_number(n_rows, n_labels):
        raise ValueError(f"n_rows must be a whole number, n_labels={n_labels} or more, got {n_rows!r}.")
    generator = check_random_state(random_state)
    truth = np.array(list(SHARES), dtype=object)[_drawn_categories(n_rows, generator)]
    given = _few(truth, n_labels, generator)
    days = np.sort(generator.randint(0, 365, n_rows))
    # A seed for each ticket: a new phrase in the data file changes where it can stand, not which tickets have a label.
    seeds = generator.randint(2**31 - 1, size=n_rows)
    tickets = pd.DataFrame([_ticket(*row) for row in zip(truth, seeds, strict=True)])
    tickets.insert(0, "ticket_id", [f"T-{10_000 + number}" for number in range(n_rows)])
    tickets.insert(1, "opened", pd.Timestamp("2025-01-01") + pd.to_timedelta(days, unit="D"))
    tickets["category"] = given
    return (tickets, truth) if return_truth else tickets


def _drawn_categories(n_rows: int, generator: np.random.RandomState) -> IntArray:
    sure = np.repeat(np.arange(len(SHARES)), LABELS_OF_EACH)
    others = generator.choice(len(SHARES), n_rows - len(sure), p=list(SHARES.values()))
    return generator.permutation(np.concatenate([sure, others]))


def _few(truth: npt.NDArray[Any], n_labels: int, generator: np.random.RandomState) -> npt.NDArray[Any]:
    order = generator.permutation(len(truth))
    sure = np.concatenate([order[truth[order] == category][:LABELS_OF_EACH] for category in SHARES])
    others = order[~np.isin(order, sure)][: n_labels - len(sure)]
    return np.where(np.isin(np.arange(len(truth)), [*sure, *others]), truth, "")


def _ticket(category: str, seed: int) -> dict[str, Any]:
    generator = np.random.RandomState(seed)

    def one_of(options: Sequence[Any]) -> Any:
        return options[generator.randint(len(options))]

    def missing(share: float, value: Any) -> Any:
        return None if generator.uniform() < share else value

    cases = WORDS["cases"][category]
    case = cases[int(len(cases) * generator.uniform() ** 2)]  # the first ones are frequent
    other = one_of([name for name in SHARES if name != category])
    product = one_of(case.get("products", WORDS["slots"]["product"]))
    plan = one_of(WORDS["slots"]["plan"])
    slots = {**WORDS["slots"], **case, "product": [product], "plan": [plan]}
    slots |= {"passing": WORDS["passing"][other], "other": one_of(WORDS["cases"][other])["says"]}
    subject = "{subject}" if generator.uniform() < 0.2 else "{subjects}"
    message = generator.choice(list(WORDS["messages"]), p=list(WORDS["messages"].values()))
    rating = int(np.clip(np.rint(generator.normal(WORDS["satisfaction"][category], 1.1)), 1, 5))
    hours = float(np.round(generator.lognormal(np.log(WORDS["hours"][category]), 0.8), 1))
    return {
        "channel": str(generator.choice(WORDS["channels"], p=WORDS["channel_shares"][category])),
        "product": product,
        "plan": missing(0.08, plan),
        "subject": missing(0.08, _filled(subject, slots, generator)),
        "message": _as_typed(_filled(message, slots, generator), generator),
        "n_replies": int(generator.poisson(WORDS["replies"][category])),
        "hours_open": missing(0.04, hours),
        "satisfaction": missing(0.55, rating),
    }


def _filled(text: str, slots: dict[str, list[str]], generator: np.random.RandomState) -> str:
    """Choose a part of each ``[this|that]`` and fill each ``{slot}``, with the same only when it has no other left."""
    left = {name: list(options) for name, options in slots.items()}
    while place := CHOICE.search(text):
        options = place["parts"].split("|") if place["slot"] is None else left[place["slot"]]
        at = generator.randint(len(options))
        part = options.pop(at) if len(options) > 1 else options[0]
        text = text[: place.start()] + part + text[place.end() :]
    return re.sub(r" *([ \n]) *", r"\1", text).strip()


def _as_typed(text: str, generator: np.random.RandomState) -> str:
    """Swap two letters or lose one in about one word of thirty; some writers use no capitals and apostrophes."""
    words = text.split(" ")
    for place in np.flatnonzero(generator.uniform(size=len(words)) < 1 / 30):
        word = words[place]
        if len(word) > 4 and word.isalpha():
            at = generator.randint(1, len(word) - 2)
            words[place] = word[:at] + word[at + 1] + word[at] * generator.randint(2) + word[at + 2 :]
    text = " ".join(words)
    return text.lower().replace("'", "") if generator.uniform() < 0.2 else text
