"""What is open, which tab looks at what, and what each action of a user does. One lock around all of it."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from semikpca.app import _loop
from semikpca.app._acts import ACTS, asked_class
from semikpca.app._autosave import SavedLabels
from semikpca.app._background import Say
from semikpca.app._column_choices import roles_in
from semikpca.app._columns import choices_of
from semikpca.app._folder import Folder
from semikpca.app._foresight import Foresight
from semikpca.app._maps import Maps
from semikpca.app._opening import (
    EXAMPLES,
    NEW_COLUMN,
    OpenTable,
    Pending,
    check_table,
    open_example,
    open_table,
    read_upload,
    with_new_label_column,
)
from semikpca.app._scales import LEAST_SHARE, MOST_SHARE, START, USUAL_SHARE, position_of, weight_at
from semikpca.app._switching import (
    PLACES,
    WITHOUT_TABLE,
    Message,
    Switching,
    message_of,
    offered,
    remember_choices,
    take_over,
)
from semikpca.app._table_search import TableSearch
from semikpca.tables import AUTO, CLASSES, NGRAMS, NUMBERS, ColumnRoles, Table
from semikpca.workflow import LabelingOptions

_MOST_TABS = 50  # a tab says nothing when it closes, so the oldest ones are forgotten


@dataclass
class Tab:
    """One open page: its selection, its brush, the share it asks for, and the last event that came from it."""

    selected: list[int] = field(default_factory=list)
    is_check: bool = False  # whether the selected row was taken because it is a random check
    share: float = USUAL_SHARE  # of accepted labels that must be right, in percent
    asked: tuple[int, int] | None = None  # the state for which it was asked what can be accepted
    brush: str | None = None  # the name of a class
    class_search: str = ""  # what was typed to find a class
    editing: str | None = None  # the class that is being edited, by name
    merging: str | None = None  # the class that it would be merged into
    dialog: str = ""
    loop: _loop.Loop = field(default_factory=_loop.Loop)
    dark: bool = False
    message: Message | None = None
    is_choosing: bool = False  # whether its dialog of columns is open
    last_event: int = 0

    @property
    def error_rate(self) -> float:
        """What share of accepted labels may be wrong."""
        return round((100 - self.share) / 100, 4)

    def select(self, rows: list[int], *, is_check: bool = False) -> None:
        """Select rows in place of those that are selected."""
        self.selected, self.is_check, self.loop.is_running = rows, is_check, False


@dataclass(frozen=True)
class Update:
    """What a tab has to draw anew, beside its own selection."""

    tab: Tab
    state: tuple[int, int]
    is_new_table: bool
    has_new_labels: bool


class Workspace(Switching):
    """The one table that is open, for one user with any number of tabs.

    Options are for tables that are opened from the page. ``roles`` makes all roles of the name of a label column; the
    others come from the command line. ``in_background`` tables are opened while the page answers.
    """

    def __init__(
        self,
        options: LabelingOptions | None = None,
        roles: Callable[[str], ColumnRoles] = ColumnRoles,
        *,
        in_background: bool = False,
    ) -> None:
        super().__init__(in_background)
        self.options, self.roles = options, roles
        self.pending: Pending | None = None
        self.offer: SavedLabels | None = None
        self.folder: Folder | None = None  # whose tables the page lists
        self.maps = Maps(self)
        self.foresight = Foresight()
        self._search: TableSearch | None = None
        self._untold: Message | None = None  # what happened before there was a tab
        self._tabs: OrderedDict[str, Tab] = OrderedDict()

    def open(self, pending: Pending, column: str, say: Say = lambda step: None) -> Message | None:
        """Put a table on the page whose labels are in a column; ``say`` is told the steps."""
        return self.show(self._opened(pending, column, say))

    def check(self, pending: Pending, column: str) -> None:
        """Refuse a table that cannot be opened, with what to do, as far as that is known before the work."""
        check_table(pending.table, self.roles(column))

    def begin_open(self, pending: Pending, column: str, tab: "Tab | None" = None) -> None:
        """Open a table whose labels are in a column, while the page answers."""
        self.begin(
            pending.name,
            lambda say: self._opened(pending, column, say),
            self.show,
            lambda message: self.tell(message, tab),
            "question" if self.pending is not None else "start",
        )

    def _opened(self, pending: Pending, column: str, say: Say) -> OpenTable:
        table, roles = pending.table, self.roles(column)
        said = {name for _, name in roles.named()}
        if pending.place != "beside the file":
            # The command line spoke of another table: what it says of columns that are not here is not meant.
            roles = roles_in(roles, table)
        roles = replace(roles, exclude=tuple(dict.fromkeys([*roles.exclude, *pending.left_out])))
        if pending.text_encoder is not None:
            roles = replace(roles, text_encoder=pending.text_encoder)
        if pending.labels_as is not None:
            roles = replace(roles, labels_as=pending.labels_as)
        name, place = pending.name, pending.place
        opened = open_table(table, roles, name=name, place=place, options=self.options, said=said, say=say)
        if pending.labels_as is not None:
            opened = replace(opened, choices=opened.choices.saying(column, pending.labels_as))
            remember_choices(opened)
        return opened

    def _open_again(self, tab: "Tab", event: dict[str, Any]) -> None:
        """Open the table with other choices of columns; all labels that were given stay."""
        before = self.table
        choices = choices_of(before, str(event["value"]), tuple(self.text_encoders()))

        def done(after: OpenTable) -> Message:
            take_over(before, after)
            is_answered = self.offer is None
            message = self.show(after)
            self.offer = None if is_answered else self.offer
            remember_choices(after)
            tab.is_choosing = False
            return message or Message("note", "The columns are changed, and all labels are kept.")

        def tell(message: Message) -> None:
            self.tell(message, tab)

        self.begin(before.name, lambda say: before.again(choices, say), done, tell, "columns")

    def tell(self, message: Message, tab: "Tab | None") -> None:
        """Show a message in the tab that it is for, or that was used last, or comes first."""
        tab = tab if tab is not None else next(reversed(self._tabs.values()), None)
        if tab is None:
            self._untold = message
        else:
            tab.message = message

    def text_encoders(self) -> dict[str, str]:
        """Return the text encoders that the page offers, in words: that of the command line, and letters."""
        given = self.roles("").text_encoder
        words = {AUTO: "by their meaning", NGRAMS: "by their letters"}
        return {name: words.get(name, f"with {name}") for name in dict.fromkeys((given, AUTO, NGRAMS))}

    def show(self, opened: OpenTable) -> Message | None:
        """Put a table on the page; labels of an earlier visit are offered."""
        with self.lock:
            self.opened, self.pending = opened, None
            self.offer, message = offered(opened)
            self.generation += 1
            for tab in self._tabs.values():
                tab.select([])
                tab.brush = tab.editing = tab.merging = None
                tab.class_search = tab.dialog = ""
                tab.loop = _loop.Loop(goes_on=tab.loop.goes_on)
            return message

    def ask_for_column(self, pending: Pending) -> None:
        """Ask on the page which column has the labels."""
        with self.lock:
            self.pending = pending
            self.generation += 1

    def receive(self, filename: str, content: bytes) -> None:
        """Take an uploaded file."""
        self.begin(
            filename,
            lambda say: read_upload(filename, content).looked_at(),
            self.ask_for_column,
            lambda message: self.tell(message, None),
            "start",
        )

    def state(self) -> tuple[int, int]:
        """Return what a tab compares with what it shows: which opening, and which change of its labels."""
        with self.lock:
            return self.generation, -1 if self.opened is None else self.opened.session.snapshot().revision

    def handle(self, client: str, events: list[dict[str, Any]], shown: Any = None, *, dark: bool = False) -> Update:
        """Do what a tab asks for, each event once and in order, and say what it has to draw.

        A tab sends an event again until it is told that it arrived: a click is neither lost nor counted twice. Each
        event has its ``number`` and what to do, ``act``; ``shown`` is the ``state`` that the tab shows now.
        """
        with self.lock:
            tab = self.tab(client)
            tab.dark = dark
            for event in sorted(events, key=lambda event: int(event["number"])):
                if int(event["number"]) > tab.last_event:
                    tab.last_event = int(event["number"])
                    self._do(tab, event)
            state = self.state()
            is_new_table = not shown or shown[0] != state[0]
            has_new_labels = is_new_table or list(shown) != list(state)
            return Update(tab, state, is_new_table, has_new_labels)

    @property
    def error_rate(self) -> float:
        """What share of accepted labels may be wrong, in the tab that was used last."""
        return next(reversed(self._tabs.values()), Tab()).error_rate

    def tab(self, client: str) -> Tab:
        """Return what is known of a tab; the oldest ones are forgotten."""
        if client not in self._tabs:
            self._tabs[client], self._untold = Tab(message=self._untold), None
        tab = self._tabs[client]
        self._tabs.move_to_end(client)
        while len(self._tabs) > _MOST_TABS:
            self._tabs.popitem(last=False)
        return tab

    def _do(self, tab: Tab, event: dict[str, Any]) -> None:
        act = str(event.get("act"))
        if self.opened is None and act not in WITHOUT_TABLE:
            return
        if act == "weight" and float(event["value"]) == self.slider():
            return  # the slider was moved by the page, not by the user
        if act not in ("refresh", "leave-out"):
            tab.message = None
        try:
            self._act(tab, act, event)
        except Exception as error:
            tab.message = message_of(error, act, PLACES.get(act, "page"))

    def slider(self) -> float:
        """Return where the slider of the error weight belongs."""
        certificate = None if self.opened is None else self.opened.session.snapshot().certificate
        return START if certificate is None else position_of(certificate.relative_weight)

    def is_asked(self, tab: Tab) -> bool:
        """Whether a tab waits for what takes many fits: what can be accepted, on request only; errors of numbers."""
        if self.opened is None:
            return False
        return self.opened.session.waits_for_fits(tab.error_rate, is_asked=tab.asked == self.state())

    @property
    def table(self) -> OpenTable:
        """The open table, where one is sure to be."""
        assert self.opened is not None
        return self.opened

    @property
    def search(self) -> TableSearch:
        """What finds rows of the open table."""
        if self._search is None or self._search.opened is not self.opened:
            self._search = TableSearch(self.table)
        return self._search

    def _act(self, tab: Tab, act: str, event: dict[str, Any]) -> None:
        """Do what one event asks for; "refresh", "dismiss" and names that are not known ask for the answer alone."""
        if act in ACTS:
            said = ACTS[act](self, tab, event)
            tab.message = None if said is None else Message("note", said)
            return
        match act:
            case "pick":
                if not all(0 <= point < len(self.table.map.rows) for point in event["points"]):
                    raise ValueError(f"There are {len(self.table.map.rows):,} rows on the map; the points go beyond.")
                tab.select([int(self.table.map.rows[point]) for point in event["points"]])
                if tab.brush is not None and tab.selected:
                    self._give(tab, {"name": tab.brush})
            case "row" | "check":
                row = int(event["value"])
                if not 0 <= row < self.table.session.n_rows:
                    raise ValueError(f"There is no row {row + 1}.")
                if event.get("queue"):
                    _loop.take(self.table.session, tab, row, str(event["queue"]))
                else:
                    tab.select([row], is_check=act == "check")
            case "rows":
                n_rows = self.table.session.n_rows
                if not all(0 <= row < n_rows for row in event["points"]):
                    raise ValueError(f"There are {n_rows:,} rows; the selected ones go beyond.")
                tab.select([int(row) for row in event["points"]])
            case "found":
                tab.select(self.search.rows(event["query"]).tolist())
            case "step":
                _loop.step(self.table.session, tab, forward=int(event["value"]) > 0)
            case "draw":
                _loop.step(self.table.session, tab, forward=True, queue="random")
            case "review":
                _loop.step(self.table.session, tab, forward=int(event["value"]) > 0, queue="review")
            case "queue":
                _loop.step(self.table.session, tab, forward=True, queue=str(event["value"]))
            case "skip":
                _loop.skip(self.table.session, tab)
            case "back":
                _loop.back(self.table.session, tab)
            case "goes-on":
                tab.loop.goes_on = not tab.loop.goes_on
            case "share":
                share = float(event["value"])
                if not LEAST_SHARE <= share <= MOST_SHARE:
                    raise ValueError(
                        f"The share must lie between {LEAST_SHARE:g}% and {MOST_SHARE:g}%, got {share:g}%."
                    )
                tab.share, tab.asked = share, self.state()
            case "find":
                tab.asked = self.state()
            case "layout":
                self.maps.choose(str(event["value"]))
            case "clear":
                tab.select([])
                tab.brush = None
            case "brush":
                tab.brush = None if event["value"] in ("", None) else str(asked_class(self, event))
            case "label":
                if not tab.selected:
                    raise ValueError("No row is selected. Click one on the map, or press n for a suggested one.")
                self._give(tab, event)
            case "remove":
                self.table.session.remove(tab.selected)
            case "undo":
                self.table.session.undo()
            case "redo":
                self.table.session.redo()
            case "add-class":
                label = self.table.session.add_class(str(event["value"]))
                tab.message = Message("note", f"The class {label} is there. Select a row of it and give it the label.")
            case "weight":
                self.table.session.set_error_weight(weight_at(float(event["value"])))
            case "middle":
                self.table.session.set_error_weight("middle")
            case "example":
                key = str(event["value"])
                name = EXAMPLES[key][0] if key in EXAMPLES else key
                tell = partial(self.tell, tab=tab)
                self.begin(name, lambda say: open_example(key, say), self.show, tell, "start")
            case "choose" | "chosen":
                tab.is_choosing = act == "choose"
            case "columns":
                self._open_again(tab, event)
            case "stop":
                self.stop()
            case "column" if self.pending is not None:
                pending, column = self.pending, str(event["value"])
                if event.get("name") in (CLASSES, NUMBERS):
                    pending = replace(pending, labels_as=str(event["name"]))
                if event.get("new"):
                    column = column or NEW_COLUMN
                    pending = replace(pending, table=with_new_label_column(pending.table, column))
                self.begin_open(pending, column, tab)
            case "encoder" if self.pending is not None and str(event["value"]) in self.text_encoders():
                self.ask_for_column(self.pending.asked(text_encoder=str(event["value"])))
            case "leave-out" if self.pending is not None:
                name, names = str(event["value"]), list(self.pending.left_out)
                names = [other for other in names if other != name] if name in names else [*names, name]
                self.ask_for_column(self.pending.asked(left_out=tuple(names)))
            case "cancel" if self.pending is not None:
                self.pending = None
                self.generation += 1
            case "refused":
                tab.asked = None  # what was refused may be that
                tab.message = Message("error", str(event["value"])[:600], "start")

    def label_selected(self, tab: Tab, label: Any) -> None:
        """Give the selected rows a label; where the tab goes through a queue, its next row comes then."""
        session = self.table.session
        go_on = _loop.next_after(session, tab) if tab.loop.is_running and tab.loop.goes_on else None
        session.label(tab.selected, label, as_check=tab.is_check)
        if go_on is not None:
            go_on()

    def _give(self, tab: Tab, event: dict[str, Any]) -> None:
        try:
            label = asked_class(self, event)
        except ValueError:
            tab.brush = None if tab.brush == event.get("name") else tab.brush
            raise
        self.label_selected(tab, label)


def pending_file(path: Path, table: Table) -> Pending:
    """Return a file of the user's whose label column is to be asked for."""
    return Pending(table, path.name, "beside the file")
