"""Support tickets: a table as people have it, with text, categories, numbers, dates, empty cells and few labels."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from semikpca._numbers import is_whole_number
from semikpca._typing import IntArray

if TYPE_CHECKING:
    import pandas as pd

SHARES = {"billing": 0.30, "bug": 0.25, "how-to": 0.20, "account": 0.15, "feature request": 0.10}
LABELS_OF_EACH = 3  # so that every category is known, and a label can be left out of each

# Words of one category turn up in the others too: people pay, log in and export whatever they write about.
SUBJECTS = {
    "billing": (
        "Charged twice this month",
        "Invoice {month} is wrong",
        "Refund for {product}",
        "VAT missing on invoice",
        "Payment failed",
        "Question about my bill",
        "Downgrade and billing",
        "Card declined",
        "Wrong amount charged",
        "Need a receipt for {month}",
        "Price of the {plan} plan",
    ),
    "bug": (
        "{product} crashes",
        "Error when I {action}",
        "{product} is very slow",
        "Something is broken since the update",
        "Blank page",
        "Sync stopped working",
        "{product} freezes",
        "Wrong numbers in my report",
        "Can't {action} any more",
        "Error 500",
        "Files disappear",
    ),
    "how-to": (
        "How do I {action}?",
        "Question about {product}",
        "Where is the setting for {thing}?",
        "Help with {thing}",
        "Getting started with {product}",
        "Best way to {action}?",
        "Is there a guide for {thing}?",
        "How to {action} with {product}",
        "Instructions for {thing}",
        "Trying to {action}",
    ),
    "account": (
        "Cannot log in",
        "Reset my password",
        "Locked out",
        "Change my email address",
        "Delete my account",
        "Two-factor code never arrives",
        "Add a colleague to our team",
        "Transfer ownership",
        "Login problem",
        "Lost access after {month}",
        "Someone else is in my account",
    ),
    "feature request": (
        "Suggestion: {thing}",
        "Please add {thing}",
        "Would love to {action} faster",
        "Idea for {product}",
        "Missing feature",
        "{thing} for {product}?",
        "Wish: {thing}",
        "Any plans for {thing}?",
    ),
}
ANY_SUBJECT = ("Question", "Help needed", "Problem with {product}", "Urgent!!", "Support request", "(no subject)", "Hi")

SENTENCES = {
    "billing": (
        "I was charged {amount} twice for the same month.",
        "The invoice for {month} shows {amount} although we are on the {plan} plan.",
        "Please send me a corrected invoice with our VAT number.",
        "My credit card was declined but the money has left my bank account.",
        "I would like a refund for {month}, we did not use {product} at all.",
        "We cancelled the subscription in {month} and you still bill us.",
        "Why did the price go up by {amount} without notice?",
        "Our accounting department needs a receipt for the payment of {amount}.",
        "Can we pay by bank transfer and once a year instead of monthly?",
        "The discount code was not applied when I paid.",
        "We moved to the {plan} plan and were billed for both plans.",
        "The payment page says that my card has expired, which is not true.",
    ),
    "bug": (
        "{product} crashes every time I {action}.",
        "Since the last update I get error {code} when I try to {action}.",
        "The page stays blank after loading and nothing happens.",
        "It worked fine until {month} and now it just freezes.",
        "When I {action} the numbers in the report are wrong, some are counted twice.",
        "The app shows a spinning wheel forever, on two different computers.",
        "Half of the files are missing after the sync.",
        "I cleared the cache and reinstalled, the error message is still there.",
        "The button does nothing, the console shows error {code}.",
        "{product} is extremely slow, it takes minutes to {action}.",
        "Screenshot attached, the layout is broken on my phone.",
        "It logs me out in the middle of saving and my changes are lost.",
    ),
    "how-to": (
        "How can I {action}?",
        "I can't find where to turn on {thing}.",
        "Is there a tutorial or a guide that shows how to {action}?",
        "I am new to {product} and would like to know the best way to {action}.",
        "What are the steps to set up {thing} for a whole team?",
        "The documentation mentions {thing} but does not explain how to use it.",
        "Which settings do I need if I want to {action}?",
        "Could you explain the difference between the {plan} plan and the others for {thing}?",
        "I tried the menu and the help page but I don't understand how {thing} works.",
        "Do I have to {action} for every project or is there an easier way?",
        "Can you walk me through it?",
    ),
    "account": (
        "I forgot my password and the reset mail never arrives.",
        "I can't log in, it says that my account is locked.",
        "Please change the email address of my account, the old one no longer exists.",
        "My two-factor codes are rejected since I have a new phone.",
        "I want to delete my account and all data in it.",
        "Our administrator has left the company and nobody can add users now.",
        "Please transfer the ownership of the team to my colleague.",
        "I was invited to a team but the link has expired.",
        "There was a login from a country where I have never been.",
        "My user name was misspelled when the account was made.",
        "After we changed to the {plan} plan I lost access to {product}.",
        "Single sign-on sends me back to the login page.",
    ),
    "feature request": (
        "It would be great if {product} had {thing}.",
        "Please consider adding {thing}, other tools have had it for years.",
        "We would upgrade to the {plan} plan at once if we could {action} automatically.",
        "My suggestion: let us {action} with one click.",
        "Are there plans for {thing}? Our whole team is waiting for it.",
        "I miss {thing} every single day.",
        "An option to {action} in bulk would save us hours.",
        "Is {thing} on your roadmap?",
    ),
}
OPENINGS = (
    "Hello,",
    "Hi there,",
    "Dear support team,",
    "Good morning,",
    "Hi,",
    "",
    "",
    "Hey folks,",
    "To whom it may concern,",
)
ANY_SENTENCES = (
    "We use {product} every day.",
    "I have been a customer since {month}.",
    "This is rather urgent for us.",
    "I already wrote in {month} and got no answer.",
    "I am on the {plan} plan.",
    "My colleagues have the same question.",
    "I found this out when I tried to {action}.",
    "I hope this is the right place to ask.",
    "We have a deadline at the end of {month}.",
    "I use the latest version on my laptop.",
    "Everything else with {product} is fine.",
    "I need this for my account and for the one of my boss.",
    "I paid for a full year.",
)  # fmt: skip
CLOSINGS = (
    "Thanks!",
    "Thank you.",
    "Best regards",
    "Kind regards, {person}",
    "Please help.",
    "",
    "",
    "Cheers, {person}",
)
VAGUE = ("It does not work.", "Please call me back.", "See the attached file.", "Same problem as last time.", "??")

SLOTS = {
    "product": ("Notes", "Boards", "Mail", "Analytics"),
    "plan": ("free", "team", "business"),
    "month": ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
              "November", "December"),
    "amount": ("$9", "$29", "$49.90", "$120", "$348", "EUR 15", "EUR 89.99", "EUR 240"),
    "action": ("export to PDF", "import a spreadsheet", "share a board", "print a report", "merge two projects",
               "invite a guest", "upload a picture", "search old messages", "save a draft", "archive a project",
               "export my invoices", "change the language"),
    "thing": ("dark mode", "email templates", "recurring tasks", "the calendar view", "keyboard shortcuts",
              "user roles", "automatic backups", "an API key", "offline mode", "custom fields", "notifications",
              "two-factor login", "monthly reports"),
    "code": ("500", "403", "E-1042", "0x8004", "timeout"),
    "person": ("Ana", "Jonas", "Priya", "Marek", "Li", "Sofia", "Tom", "Yusuf", "Greta", "Paul"),
}  # fmt: skip

# What the numbers tell of a category: mean replies, typical hours open, mean satisfaction.
REPLIES = {"billing": 2.5, "bug": 5.0, "how-to": 1.5, "account": 2.0, "feature request": 1.2}
HOURS = {"billing": 20.0, "bug": 60.0, "how-to": 8.0, "account": 5.0, "feature request": 90.0}
SATISFACTION = {"billing": 2.8, "bug": 2.5, "how-to": 4.2, "account": 3.4, "feature request": 3.8}
CHANNELS = ("email", "chat", "web form", "phone")
CHANNEL_SHARES = {
    "billing": (0.45, 0.15, 0.25, 0.15),
    "bug": (0.30, 0.20, 0.45, 0.05),
    "how-to": (0.25, 0.45, 0.20, 0.10),
    "account": (0.25, 0.25, 0.15, 0.35),
    "feature request": (0.40, 0.10, 0.48, 0.02),
}


def make_support_tickets(
    n_rows: int = 600,
    n_labels: int = 40,
    random_state: "int | np.random.RandomState | None" = 0,
    *,
    return_truth: bool = False,
) -> "pd.DataFrame | tuple[pd.DataFrame, np.ndarray]":
    """Return made-up support tickets of which a few are sorted into categories.

    Parameters
    ----------
    n_rows : int, default=600
        Tickets in all, 10 or more.
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
        subjects, hours and most ratings are missing.
    truth : ndarray of str, shape (n_rows,)
        Only with ``return_truth``.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("Tickets are a pandas table: pip install 'semikpca[label]'", name="pandas") from error

    fewest = LABELS_OF_EACH * len(SHARES)
    if not is_whole_number(n_labels, fewest):
        raise ValueError(
            f"n_labels must be a whole number, {fewest} or more, three for each category, got {n_labels!r}."
        )
    if not is_whole_number(n_rows, n_labels):
        raise ValueError(f"n_rows must be a whole number, n_labels={n_labels} or more, got {n_rows!r}.")
    generator = check_random_state(random_state)
    names = np.array(list(SHARES), dtype=object)
    truth = names[_drawn_categories(n_rows, generator)]
    tickets = pd.DataFrame([_ticket(category, generator) for category in truth])
    tickets.insert(0, "ticket_id", [f"T-{10_000 + number}" for number in range(n_rows)])
    days = np.sort(generator.randint(0, 365, n_rows))
    tickets.insert(1, "opened", pd.Timestamp("2025-01-01") + pd.to_timedelta(days, unit="D"))
    tickets["category"] = _few(truth, n_labels, generator)
    return (tickets, truth) if return_truth else tickets


def _drawn_categories(n_rows: int, generator: np.random.RandomState) -> IntArray:
    sure = np.repeat(np.arange(len(SHARES)), LABELS_OF_EACH)
    others = generator.choice(len(SHARES), n_rows - len(sure), p=list(SHARES.values()))
    return generator.permutation(np.concatenate([sure, others]))


def _few(truth: npt.NDArray[Any], n_labels: int, generator: np.random.RandomState) -> npt.NDArray[Any]:
    order = generator.permutation(len(truth))
    sure = np.concatenate([order[truth[order] == category][:LABELS_OF_EACH] for category in SHARES])
    others = order[~np.isin(order, sure)][: n_labels - len(sure)]
    given = np.full(len(truth), "", dtype=object)
    for rows in (sure, others):
        given[rows] = truth[rows]
    return given


def _ticket(category: str, generator: np.random.RandomState) -> dict[str, Any]:
    def chosen(options: Sequence[str]) -> str:
        return options[generator.randint(len(options))]

    def missing(share: float, value: Any) -> Any:
        return None if generator.uniform() < share else value

    slots = {name: chosen(values) for name, values in SLOTS.items()}
    subjects = ANY_SUBJECT if generator.uniform() < 0.2 else SUBJECTS[category]
    message = _message(category, chosen, generator)
    rating = int(np.clip(np.rint(generator.normal(SATISFACTION[category], 1.1)), 1, 5))
    hours = float(np.round(generator.lognormal(np.log(HOURS[category]), 0.8), 1))
    return {
        "channel": CHANNELS[generator.choice(len(CHANNELS), p=CHANNEL_SHARES[category])],
        "product": slots["product"],
        "plan": missing(0.08, slots["plan"]),
        "subject": missing(0.05, chosen(subjects).format(**slots)),
        "message": _with_typos(message.format(**slots), generator),
        "n_replies": int(generator.poisson(REPLIES[category])),
        "hours_open": missing(0.04, hours),
        "satisfaction": missing(0.55, rating),
    }


def _message(category: str, chosen: Callable[[Sequence[str]], str], generator: np.random.RandomState) -> str:
    if generator.uniform() < 0.03:
        return f"{chosen(OPENINGS)} {chosen(VAGUE)}".strip()
    own = list(SENTENCES[category])
    sentences = [own[place] for place in generator.permutation(len(own))[: generator.randint(1, 4)]]
    sentences += [chosen(ANY_SENTENCES) for _ in range(generator.randint(0, 3))]
    if generator.uniform() < 0.15:  # people write about two things at once
        sentences.append(chosen(SENTENCES[chosen(list(SENTENCES))]))
    sentences = [sentences[0], *[sentences[1:][place] for place in generator.permutation(len(sentences) - 1)]]
    return " ".join(part for part in (chosen(OPENINGS), *sentences, chosen(CLOSINGS)) if part)


def _with_typos(text: str, generator: np.random.RandomState) -> str:
    """Swap two neighboring letters in about one word of forty, and drop the capitals of some writers."""
    words = text.split(" ")
    for place in np.flatnonzero(generator.uniform(size=len(words)) < 1 / 40):
        word = words[place]
        if len(word) > 4 and word.isalpha():
            at = generator.randint(1, len(word) - 2)
            words[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    text = " ".join(words)
    return text.lower() if generator.uniform() < 0.1 else text
