"""What the page sends. Anything else is refused before it can do something, with a line that says what was wrong."""

import math
from typing import Any, NoReturn

from dash import Dash
from dash.exceptions import DependencyException
from flask import Response, request
from werkzeug.exceptions import BadRequest, HTTPException, RequestEntityTooLarge

from semikpca.app._error_pages import own_words, refusal

MOST_JSON_BYTES = 10_000_000  # more than a lasso around a million rows sends
_LARGEST_NUMBER = 2**53  # what JavaScript counts to
_LONGEST_NAME, _LONGEST_TEXT = 100, 10_000
# What the value of an event is; the others have none that is looked at.
_WHOLE_NUMBERS = ("row", "check", "step", "review", "brush", "label")
_NUMBERS = ("weight", "share")
_OF_A_CLASS = ("rename-class", "merge-class", "delete-class")
_TEXTS = (
    *("add-class", "example", "column", "refused", "find-class", "give-class", "rename-class", "merge-class"),
    *("open-visit", "merge-visit", "open-file", "told", "layout", "queue", "columns", "leave-out", "number"),
)
_LISTS = ("pick", "rows")  # of whole numbers, as points
# What the table is searched by.
_QUERY = {"search", "given", "predicted", "low", "high", "wrong", "flagged", "sort"}
_LONGEST_SEARCH, MOST_ROWS_AT_ONCE, _MOST_ORDERS = 200, 1_000, 10


def json_body() -> Any:
    """Return what a request carries as JSON."""
    if (request.content_length or 0) > MOST_JSON_BYTES:
        raise RequestEntityTooLarge(
            f"At most {MOST_JSON_BYTES:,} bytes are read, and these are {request.content_length:,}."
        )
    try:
        return request.get_json()
    except RecursionError:
        raise BadRequest("The JSON is nested too deeply.") from None


# -- events ------------------------------------------------------------------------------------------------------


def check_events(asked: Any) -> None:
    """Refuse what no page of ours sends to ``/events``."""
    if not isinstance(asked, dict):
        _refuse(f"an object is needed, not {type(asked).__name__}")
    if missing := [name for name in ("client", "events", "shown", "marks", "dark") if name not in asked]:
        _refuse(f"{', '.join(missing)} missing")
    if not _is_text(asked["client"], _LONGEST_NAME):
        _refuse(f"client must be a text of up to {_LONGEST_NAME} letters")
    shown, marks = asked["shown"], asked["marks"]
    if shown is not None and not (isinstance(shown, list) and len(shown) == 2 and all(map(_is_whole, shown))):
        _refuse("shown must be two whole numbers, or null")
    if marks is not None and not (isinstance(marks, dict) and all(isinstance(mark, str) for mark in marks.values())):
        _refuse("marks must be an object of texts, or null")
    if not isinstance(asked["dark"], bool):
        _refuse("dark must be true or false")
    if not isinstance(asked["events"], list):
        _refuse("events must be a list")
    for event in asked["events"]:
        _check_event(event)


def _check_event(event: Any) -> None:
    if not isinstance(event, dict) or not _is_whole(event.get("number")) or not isinstance(event.get("act"), str):
        _refuse("each event needs a number and an act")
    act: str = event["act"]
    if not _is_text(event.get("name") or "", _LONGEST_TEXT):
        _refuse(f"the name of a class must be a text of up to {_LONGEST_TEXT:,} letters")
    value: Any = event.get("value")
    if act in (*_WHOLE_NUMBERS, *_TEXTS) and "value" not in event:
        _refuse(f"{act} needs a value")
    if act in _OF_A_CLASS and not event.get("name"):
        _refuse(f"{act} needs the name of a class")
    if act in _LISTS and not (isinstance(event.get("points"), list) and all(map(_is_whole, event["points"]))):
        _refuse(f"{act} needs points, a list of whole numbers")
    if act == "found":
        _check_query(event.get("query"))
    if not _is_text(event.get("queue") or "", _LONGEST_NAME):
        _refuse(f"queue must be a text of up to {_LONGEST_NAME} letters")
    if act in _WHOLE_NUMBERS and not (_reads_as_whole(value) or (act == "brush" and value in ("", None))):
        _refuse(f"{act} needs a whole number as its value")
    if act in _TEXTS and not _is_text(value, _LONGEST_TEXT):
        _refuse(f"{act} needs a text of up to {_LONGEST_TEXT:,} letters as its value")
    if act in _NUMBERS and not (_is_number(value) and math.isfinite(value)):
        _refuse(f"{act} needs a number as its value")


def check_rows(asked: Any) -> None:
    """Refuse what no page of ours sends to ``/rows``: a tab, what to look for, and which part of what is found."""
    if not isinstance(asked, dict) or not _is_text(asked.get("client"), _LONGEST_NAME):
        _refuse("an object with the client is needed")
    start: Any = asked.get("start")
    end: Any = asked.get("end")
    if not (_is_whole(start) and _is_whole(end) and 0 <= start <= end <= start + MOST_ROWS_AT_ONCE):
        _refuse(f"start and end must be whole numbers, at most {MOST_ROWS_AT_ONCE:,} apart")
    _check_query(asked.get("query"))


def _check_query(query: Any) -> None:
    if not isinstance(query, dict) or set(query) != _QUERY:
        _refuse(f"a query has {', '.join(sorted(_QUERY))}")
    if not _is_text(query["search"], _LONGEST_SEARCH):
        _refuse(f"search must be a text of up to {_LONGEST_SEARCH:,} letters")
    if not all(_is_text(query[name], _LONGEST_TEXT) for name in ("given", "predicted")):
        _refuse("given and predicted must be texts")
    if not all(_is_number(query[name]) and 0 <= query[name] <= 100 for name in ("low", "high")):
        _refuse("low and high must lie between 0 and 100")
    if not all(isinstance(query[name], bool) for name in ("wrong", "flagged")):
        _refuse("wrong and flagged must be true or false")
    sort = query["sort"]
    if not isinstance(sort, list) or len(sort) > _MOST_ORDERS or not all(map(_is_order, sort)):
        _refuse(f"sort must be a list of up to {_MOST_ORDERS} columns, each with asc or desc")


def _is_order(part: Any) -> bool:
    is_pair = isinstance(part, list) and len(part) == 2 and _is_text(part[0], _LONGEST_NAME)
    return is_pair and part[1] in ("asc", "desc")


def is_repaint(asked: Any) -> bool:
    """Whether this names a tab and an event of it, as the page does that wants its map painted."""
    return isinstance(asked, dict) and _is_text(asked.get("client"), _LONGEST_NAME) and _is_whole(asked.get("event"))


def _is_text(value: Any, most: int) -> bool:
    # A lone surrogate is a text to JSON, and none that could be saved or sent back.
    return isinstance(value, str) and len(value) <= most and not any("\ud800" <= sign <= "\udfff" for sign in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST_NUMBER


def _reads_as_whole(value: Any) -> bool:
    if isinstance(value, str) and len(value) <= len(str(_LARGEST_NUMBER)):
        return value.isascii() and value.removeprefix("-").isdecimal()
    return _is_whole(value)


def _refuse(reason: str) -> NoReturn:
    raise BadRequest(f"No events of this page: {reason}.")


# -- what Dash answers -------------------------------------------------------------------------------------------


def refuse_what_is_malformed(app: Dash) -> None:
    """Answer requests that no page sends with a short refusal; Dash itself would fail, and log where."""
    path = app.get_relative_path("/_dash-update-component")

    @app.server.before_request
    def check() -> None:
        if request.path == path and request.method == "POST":
            _check_callback(app, json_body())

    @app.server.errorhandler(DependencyException)
    def missing(error: DependencyException) -> Response:
        return refusal(404, "There is no such file.")

    @app.server.errorhandler(HTTPException)
    def refused(error: HTTPException) -> Any:
        if error.code is None or error.code < 400:
            return error.get_response()
        return refusal(error.code, own_words(error.code, error.description))


def _check_callback(app: Dash, asked: Any) -> None:
    known = app.callback_map.get(asked["output"]) if _has_output(asked) else None
    if known is None or "callback" not in known or set(request.args) - {"endId"}:
        raise BadRequest("No callback of this page.")
    inputs, changed = _names(asked.get("inputs")), asked.get("changedPropIds")
    is_whole = (
        _names(asked.get("outputs")) == asked["output"].strip(".").split("...")
        and inputs == _names(known["inputs"])
        and _names(asked.get("state", [])) == _names(known["state"])
        and isinstance(changed, list)
        and all(name in (inputs or ()) for name in changed)
    )
    if not is_whole:
        raise BadRequest("Inputs or outputs are not those of this callback.")


def _has_output(asked: Any) -> bool:
    return isinstance(asked, dict) and isinstance(asked.get("output"), str)


def _names(parts: Any) -> list[str] | None:
    """Return inputs, outputs or states by name, or None for what is no list of them."""
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        return None
    if not all(isinstance(part.get("id"), str) and isinstance(part.get("property"), str) for part in parts):
        return None
    return [f"{part['id']}.{part['property']}" for part in parts]
