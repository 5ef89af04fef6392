"""The dialog of the columns: what each is, why, what was learned from, and how to have it otherwise."""

import json
from collections.abc import Sequence
from typing import Any

from dash import html

from semikpca._words import counted
from semikpca.app._column_choices import ColumnChoices
from semikpca.app._column_facts import ColumnFacts
from semikpca.app._opening import OpenTable
from semikpca.app._pieces import act, box, soft
from semikpca.tables import feature_columns, kinds_in_words, text_reading
from semikpca.workflow import shortened

_MOST_LISTED = 200
_MOST_NAMED = 5


def choices_of(opened: OpenTable, asked: str, encoders: Sequence[str]) -> ColumnChoices:
    """Return the choices of an open table after what a tab asks for, which is JSON; ValueError for what cannot be.

    It names each column with what it is to be, ``{"columns": {name: choice}, "encoder": name}``; what stays as it is
    need not be named.
    """
    try:
        wanted = json.loads(asked)
        columns, encoder = dict(wanted.get("columns", {})), wanted.get("encoder")
    except (ValueError, TypeError, AttributeError):
        raise ValueError("Choices of columns are an object of names and kinds.") from None
    known = {facts.name: facts for facts in opened.columns}
    kinds = dict(opened.choices.kinds)
    for name, choice in columns.items():
        if name not in known:
            raise ValueError(f"{opened.name} has no column {name!r}.")
        facts = known[name]
        if choice not in (allowed for allowed, _ in facts.choices):
            raise ValueError(f"The column {name!r} cannot be {choice!r}.")
        if choice != facts.choice:
            kinds.pop(name, None)
            kinds[name] = choice  # in the order in which it was said
    if encoder is not None and encoder not in encoders:
        raise ValueError(f"There is no text encoder {encoder!r}.")
    is_same = encoder is None or encoder == opened.roles.text_encoder
    return ColumnChoices(kinds, opened.choices.text_encoder if is_same else encoder)


def columns_dialog(opened: OpenTable, encoders: dict[str, str], problem: str | None, number: int) -> list[Any]:
    """Return what the dialog says; ``number`` is that of the opening, since a new one begins with what it found."""
    facts = opened.columns
    listed, more = facts[:_MOST_LISTED], facts[_MOST_LISTED:]
    head = html.Tr([html.Th(text) for text in ("Column", "Is", "Because", "For example")])
    lines = [_line(each, f"column-{number}-{place}") for place, each in enumerate(listed)]
    table = html.Table([html.Thead(head), html.Tbody(lines)], className="columns")
    has_text = any(each.kind == "text" for each in facts)
    parts: list[Any] = [
        box("row between", html.H2("Columns"), act("Close", "columns-close", kind="plain")),
        *(html.P(sentence, className="soft") for sentence in what_was_learned(opened)),
        box("scroll wide", table, tabIndex="0"),
        *([soft(f"{counted(len(more), 'more column')} as found.")] if more else []),
        *([_encoder(opened, encoders, number)] if has_text else []),
    ]
    if problem is not None:
        parts.append(box("banner error", html.P(problem), role="alert", id="columns-problem"))
    about = soft("The table is opened again with them. All labels are kept; undo begins anew.")
    return [*parts, box("row", act("Apply", "columns-apply", kind="strong", id="columns-apply"), about)]


def what_was_learned(opened: OpenTable) -> list[str]:
    """Return in sentences what the model learned from, how texts were read, and which columns matter."""
    n_columns = len(feature_columns(opened.table, opened.roles))
    kinds = kinds_in_words(opened.vectorizer)
    made_of = "; ".join(f"{kind}: {_named(names)}" for kind, names in kinds.items() if names)
    numbers = counted(opened.session.X.shape[1], "number")
    learned = f"Learned from {counted(n_columns, 'column')}, made into {numbers} a row ({made_of})."
    labeled = opened.learned()
    matters = "" if labeled is None else labeled.what_matters
    return [sentence for sentence in (learned, text_reading(opened.vectorizer), matters) if sentence]


def _named(names: list[str]) -> str:
    shown = ", ".join(shortened(name, 30) for name in names[:_MOST_NAMED])
    return shown if len(names) <= _MOST_NAMED else f"{shown} and {len(names) - _MOST_NAMED} more"


def _line(facts: ColumnFacts, id: str) -> html.Tr:
    kind: Any = html.Span(facts.kind, className="soft")
    if facts.choices:
        options = [
            html.Option(words, value=choice, **({"selected": True} if choice == facts.choice else {}))
            for choice, words in facts.choices
        ]
        # What was chosen before is what the browser compares with: only what changed is sent.
        tells = {"data-column": facts.name, "data-was": facts.choice, "aria-label": f"What {facts.name} is"}
        kind = html.Select(options, id=id, className="text", **tells)
        if facts.kind not in dict(facts.choices).get(facts.choice, ""):
            kind = [kind, html.Span(f" {facts.kind}", className="soft")]
    cells = [html.Th(facts.name, title=facts.name), html.Td(kind), html.Td(facts.why), html.Td(facts.sample)]
    return html.Tr(cells, className=f"kind-{facts.kind.replace(' ', '-')}")


def _encoder(opened: OpenTable, encoders: dict[str, str], number: int) -> html.Div:
    chosen = opened.roles.text_encoder
    names = encoders if chosen in encoders else {chosen: f"with {chosen}", **encoders}
    options = [
        html.Option(words, value=name, **({"selected": True} if name == chosen else {}))
        for name, words in names.items()
    ]
    tells = {"data-was": chosen, "aria-label": "How texts are compared"}
    select = html.Select(options, id=f"columns-encoder-{number}", className="text encoder", **tells)
    return box("row", html.Span("Texts are compared"), select)
