"""From one table to the next while the page answers: what is on its way, and what comes of it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock, Thread
from typing import Any, Literal, TypeAlias, TypeVar

from semikpca.app._autosave import AutosaveError, SavedLabels
from semikpca.app._background import Opening, OpeningStopped, Say
from semikpca.app._column_choices import place_beside
from semikpca.app._opening import OpenTable
from semikpca.app._page_words import in_page_words
from semikpca.exceptions import UnboundedProblemError

logger = logging.getLogger("semikpca")

Where: TypeAlias = Literal["page", "start", "question", "classes", "columns", "weight", "number"]
Made = TypeVar("Made")

WITHOUT_TABLE = (
    "example",
    "column",
    "encoder",
    "leave-out",
    "cancel",
    "stop",
    "refused",
    "refresh",
    "dismiss",
    "open-file",
    "list",
)
# Where on the page what goes wrong is said; elsewhere above the map.
PLACES: dict[str, Where] = {
    "example": "start",
    "refused": "start",
    "column": "question",
    "encoder": "question",
    **dict.fromkeys(("add-class", "give-class", "rename-class", "merge-class", "delete-class"), "classes"),
    "columns": "columns",
    "number": "number",
}
_PATIENCE = 60  # seconds that an event waits for its table


@dataclass(frozen=True)
class Message:
    """A line for the user, at the place of what it is about."""

    kind: Literal["error", "note", "bound"]
    text: str
    where: Where = "page"


def message_of(error: Exception, act: str, where: Where = "page") -> Message:
    """Return what went wrong in the words of the page."""
    if isinstance(error, UnboundedProblemError):
        return Message("bound", str(error), "weight")
    if isinstance(error, ValueError):
        return Message("error", in_page_words(str(error)), where)
    if isinstance(error, OSError):
        reason = f"it could not be saved: {error.strerror or error} ({error.filename})"
        remedy = "Make room or give write access, and do it again."
        return Message("error", f"Nothing was changed, because {reason}. {remedy}", where)
    # The border of the program: a page that waits forever helps nobody.
    logger.error("%s failed", act, exc_info=error)
    fault = f"{type(error).__name__}: {error}"
    return Message("error", f"A fault of the program: {fault}. The labels given so far are saved.", where)


class Switching:
    """Openings one after the other: a later one takes the place of one that has not come to its end.

    ``in_background`` they go on in threads of their own, and the page shows their steps; or else whoever asks waits.
    What is open stays as it is until the next table is whole.
    """

    def __init__(self, in_background: bool) -> None:
        self.lock = RLock()
        self.in_background = in_background
        self.opening: Opening | None = None
        self.opened: OpenTable | None = None
        self.generation = 0
        self._thread: Thread | None = None

    @property
    def shown(self) -> OpenTable | None:
        """The table that the page shows: none while another one is on its way."""
        return None if self.opening is not None else self.opened

    def begin(
        self,
        name: str,
        work: Callable[[Say], Made],
        done: Callable[[Made], Message | None],
        tell: Callable[[Message], None],
        where: Where,
    ) -> None:
        """Do what takes long, then, under the lock, what puts it on the page; ``tell`` is told how it went wrong."""
        if not self.in_background:
            if message := done(work(lambda step: None)):
                tell(message)
            return
        opening = Opening(name)
        with self.lock:
            self._drop()
            self.opening = opening
            self.generation += 1
        self._thread = Thread(target=self._finish, args=(opening, work, done, tell, where), daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait for the table that is on its way, but no longer than this; not while the lock is held."""
        if self.opening is not None and self._thread is not None:
            self._thread.join(seconds)

    def wait_for_table(self, events: list[dict[str, Any]]) -> None:
        """Wait where events are for a table that is still on its way: what is confirmed is done."""
        if self.opened is None and any(str(event["act"]) not in WITHOUT_TABLE for event in events):
            self.wait(_PATIENCE)

    def stop(self) -> None:
        """Stay with what is open; the work ends at its next step."""
        with self.lock:
            if self.opening is not None:
                self._drop()
                self.generation += 1

    def _drop(self) -> None:
        if self.opening is not None:
            self.opening.is_stopped = True
            self.opening = None

    def _finish(self, opening: Opening, work: Any, done: Any, tell: Any, where: Where) -> None:
        try:
            made = work(opening.say)
            with self.lock:
                if self.opening is not opening:
                    return  # overtaken
                message = done(made)
        except OpeningStopped:
            return
        except Exception as error:
            message = message_of(error, "opening", where)
        with self.lock:
            if self.opening is opening:
                self.opening = None
                self.generation += 1
                if message is not None:
                    tell(message)


def take_over(before: OpenTable, after: OpenTable) -> None:
    """Give a table that was opened again the labels of its session, or refuse it where that is not possible.

    They are in the file of saved labels, unless none was given. What else is in that file was offered and not taken.
    """
    saved = after.session.saved()
    if saved is not None and saved.labels == _labels(before):
        after.session.restore(saved)
        after.session.forget_history()
    if _labels(after) != _labels(before):
        raise ValueError("The labels of this visit could not be read again from where they are saved: nothing changed.")


def _labels(opened: OpenTable) -> dict[int, Any]:
    return {row: label for row, label in enumerate(opened.session.given.tolist()) if label is not None}


def remember_choices(opened: OpenTable) -> None:
    """Keep the choices of columns for the next visit of this table."""
    if opened.session.autosave is not None:
        opened.choices.save(place_beside(opened.session.autosave.path))


def offered(opened: OpenTable) -> tuple[SavedLabels | None, Message | None]:
    """Return labels of an earlier visit, or what is wrong with them."""
    try:
        return opened.session.saved(), None
    except AutosaveError as error:
        return None, Message("error", in_page_words(str(error)))
