"""The labeling page, killed in the middle of clicks: labels, edits of classes, flags, acceptances, undo and redo."""

import http.client
import json
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Timer
from typing import Any

from bench_click import Tab, write_rows
from kill_figures import PARTIAL, Figures, expect
from soak_app import AppProcess, autosave_of, start_labels

N_ROWS, LIFE = 60, 1.5  # seconds that a server has for clicks, at most
LEAST_SHARE = 80.0  # of accepted labels that must be right, in percent: few labels promise no more
SHARES = {
    "label": 45,
    "undo": 18,
    "redo": 8,
    "add": 3,
    "rename": 5,
    "merge": 3,
    "delete": 3,
    "flag": 7,
    "accept": 4,
    "weight": 4,
}


@dataclass(frozen=True)
class Said:
    """What the page has been told, beside the page and without any of its code."""

    labels: dict[int, str]
    classes: tuple[str, ...]
    flagged: frozenset[int] = frozenset()
    accepted: dict[int, str] = field(default_factory=dict)

    def renamed(self, old: str, new: str | None) -> dict[str, dict[int, str]]:
        """Return given and accepted labels with another class in place of one, or without it."""
        found = {}
        for name in ("labels", "accepted"):
            moved = {row: new if label == old else label for row, label in getattr(self, name).items()}
            found[name] = {row: label for row, label in moved.items() if label is not None}
        return found


@dataclass
class Page:
    """What clicks amount to: all states, whole, one after the other."""

    now: Said
    weight: float | str = "middle"
    past: list[Said] = field(default_factory=list)
    future: list[Said] = field(default_factory=list)
    is_accepting: bool = False  # which rows, the page alone knows
    done: Counter[str] = field(default_factory=Counter)

    def become(self, **changes: Any) -> None:
        """Do something that is a step of the history, unless it changes nothing."""
        after = replace(self.now, **changes)
        if after != self.now:
            self.past.append(self.now)
            self.future.clear()
            self.now = after

    def step(self, kind: str) -> None:
        """Undo, or redo."""
        source, target = (self.past, self.future) if kind == "undo" else (self.future, self.past)
        if source:
            target.append(self.now)
            self.now = source.pop()

    def saved(self) -> tuple[Said, float | str]:
        """Return what the autosave has to say."""
        return self.now, self.weight


def saved_in(path: Path) -> tuple[Said, float | str]:
    """Return what the autosave says."""
    content = autosave_of(path)
    labels, accepted = (dict(map(tuple, content[name])) for name in ("labels", "accepted"))
    return Said(labels, tuple(content["classes"]), frozenset(content["flagged"]), accepted), content["error_weight"]


def kill_app(kills: int, seed: int, folder: Path) -> Figures:
    """Kill ``semikpca app`` in the middle of clicks, start it again, take up the labels and go on."""
    figures, chosen = Figures("app"), random.Random(seed)
    path = folder / "clusters.csv"
    truth = write_rows(path, N_ROWS).tolist()
    labels = start_labels(path)
    start = Said(labels, tuple(sorted(set(labels.values()))))
    confirmed: tuple[Said, float | str] = (start, "middle")
    is_saved, done = False, Counter()
    while figures.kills < kills:
        with AppProcess(path, folder / "state") as app:
            tab = Tab(app.url, f"tab of start {figures.kills}")
            timer = Timer(chosen.uniform(0.0, LIFE), app.process.kill)
            timer.start()
            page = Page(start, done=done)
            try:
                if confirmed != page.saved():
                    banners = json.dumps(tab.send("refresh")["banners"])
                    expect("take-up" in banners, "the labels of the last start are not offered")
                    page = taken_up(start, confirmed, done)
                    tab.send("take-up")
                while True:
                    page.is_accepting = False
                    click(tab, page, chosen, truth, path)
                    confirmed, is_saved = page.saved(), True
                    figures.confirmed += 1
            except (http.client.HTTPException, OSError):
                timer.join()  # the program is dead
        figures.kills += 1
        if not is_saved:
            continue
        found = saved_in(path)
        possible = [confirmed, page.saved()]
        if page.is_accepting:  # whole: rows without a label have become accepted ones, and nothing else has changed
            expect(found[0].accepted.items() >= confirmed[0].accepted.items(), "an accepted label is gone")
            expect(not found[0].accepted.keys() & found[0].labels.keys(), "a row is labeled and accepted")
            possible.append((replace(confirmed[0], accepted=found[0].accepted), confirmed[1]))
        expect(found in possible, f"confirmed {confirmed}, saved {found}")
        figures.under_way += found != confirmed
        figures.partial_files += len(list(folder.glob(f".*{PARTIAL}")))
        confirmed = found
    strangers = {name.name for name in folder.iterdir()} - {path.name, f".{path.name}.semikpca-labels.json", "state"}
    expect(all(name.endswith(PARTIAL) for name in strangers), f"files that nobody asked for: {strangers}")
    print(", ".join(f"{kind} {number}" for kind, number in sorted(done.items())), flush=True)
    return figures


def taken_up(start: Said, confirmed: tuple[Said, float | str], done: Counter[str]) -> Page:
    """Return the page after the labels of the last start were taken up: one step, where any row has changed."""
    said, weight = confirmed
    is_step = (said.labels, said.flagged, said.accepted) != (start.labels, start.flagged, start.accepted)
    return Page(said, weight, [start] if is_step else [], done=done)


def click(tab: Tab, page: Page, chosen: random.Random, truth: list[str], path: Path) -> None:
    """Do one thing; ``page`` is what it amounts to once it is answered."""
    (kind,) = chosen.choices(list(SHARES), list(SHARES.values()))
    classes, said = page.now.classes, page.now
    if kind in ("merge", "delete") and len(classes) < 4:
        kind = "add"
    row, name = chosen.randrange(N_ROWS), chosen.choice(classes)
    new = f"class {page.done.total()}"
    events: list[tuple[str, dict[str, Any]]] = [(kind, {})]
    if kind == "label":
        # Mostly the right one, where it still has its name: else nothing could ever be accepted.
        name = truth[row] if truth[row] in classes and chosen.random() < 0.9 else name
        accepted = {other: label for other, label in said.accepted.items() if other != row}
        page.become(labels={**said.labels, row: name}, accepted=accepted)
        events = [("row", {"value": row}), ("label", {"value": classes.index(name), "name": name})]
    elif kind == "add":
        page.become(classes=(*classes, new))
        events = [("add-class", {"value": new})]
    elif kind == "rename":
        places = tuple(new if label == name else label for label in classes)
        page.become(classes=places, **said.renamed(name, new))
        events = [("rename-class", {"value": new, "name": name})]
    elif kind in ("merge", "delete"):
        others = tuple(label for label in classes if label != name)
        target = chosen.choice(others) if kind == "merge" else None
        page.become(classes=others, **said.renamed(name, target))
        events = [(f"{kind}-class", {"value": target or "", "name": name})]
    elif kind == "flag":
        page.become(flagged=said.flagged ^ {row})
        events = [("row", {"value": row}), ("flag", {"value": "1" if row in page.now.flagged else "0"})]
    elif kind == "weight":
        place = chosen.choice((0.31, 0.71, 1.11))
        page.weight = 1.0 - 10.0**-place
        events = [("weight", {"value": place})]
    elif kind == "accept":
        accept(tab, page, path)
        return
    else:
        page.step(kind)
    for act, more in events:
        answer = tab.send(act, **more)
    page.done[kind] += 1
    expect("banner error" not in json.dumps(answer.get("banners", {})), f"{kind} refused: {answer.get('banners')}")


def accept(tab: Tab, page: Page, path: Path) -> None:
    """Find out what can be accepted, and accept it where there is something."""
    tab.request("POST", "/acceptance")
    parts = json.dumps(tab.send("share", value=LEAST_SHARE))
    if '"accept"' not in parts:
        return
    page.is_accepting = True
    tab.send("accept")
    (found, _) = saved_in(path)
    n_new = len(found.accepted) - len(page.now.accepted)
    expect(found == replace(page.now, accepted=found.accepted) and n_new > 0, "accepting changed something else")
    page.become(accepted=found.accepted)
    page.is_accepting = False
    page.done["accept"] += 1
