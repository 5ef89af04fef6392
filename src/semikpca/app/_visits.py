"""Labels of other visits and other programs: the offer above the map, and the dialog that reaches all of them."""

from typing import Any

from dash import html

from semikpca._words import counted
from semikpca.app._acts import when
from semikpca.app._opening import OpenTable
from semikpca.app._pieces import act, box, soft
from semikpca.app._workspace import Tab, Workspace
from semikpca.workflow import Visit


def offer(workspace: Workspace, opened: OpenTable) -> list[Any]:
    """Return the offer to go on with the labels of the last visit, which stays until it is answered."""
    saved = workspace.offer
    if saved is None:
        return []
    session = opened.session
    present = {row: label for row, label in enumerate(session.given.tolist()) if label is not None}
    if present == saved.labels and saved.accepted == session.accepted_labels and saved.flagged == session.flagged:
        found = f"Your last visit, saved on {when(saved)}, had other classes or another error weight than the file."
    else:
        n_saved, n_file = f"{len(saved.labels):,}", f"{session.n_in_table:,}"
        found = f"Labels of your last visit are there: {n_saved}, saved on {when(saved)}. The file itself has {n_file}."
    if n_changed := len(session.changed_rows()):
        found += f" If you go on with them, the {counted(n_changed, 'row')} changed since keep the new label."
    go_on = act("Go on with them", "take-up", kind="strong", id="take-up")
    begin = act("Begin with the file", "start-over", kind="plain", title="They are kept under another name")
    return [box("banner", html.P(found), box("row", go_on, begin))]


def dialog(workspace: Workspace, tab: Tab) -> list[Any]:
    """Return the dialog that a tab has opened, or nothing."""
    if tab.dialog != "labels" or workspace.opened is None:
        return []
    head = box("row between", html.H2("Labels of this table"), act("Close", "dialog", kind="plain", id="close-dialog"))
    content = box(
        "card",
        head,
        *_visits(workspace.opened),
        *_exchange(),
        role="dialog",
        **{"aria-label": "Labels of this table", "aria-modal": "true"},
    )
    return [content]


def _visits(opened: OpenTable) -> list[Any]:
    found = opened.session.visits()
    about = soft(
        "Open goes back to the labels of that visit, in place of the present ones. Merge adds them where a row has no "
        "label now. Either can be undone, and no file is deleted."
    )
    if not found:
        return [html.H3("Visits"), soft("Nothing is saved yet: the first label begins the first visit.")]
    return [html.H3("Visits"), about, html.Ul([_visit(visit) for visit in found], className="list visits")]


def _visit(visit: Visit) -> html.Li:
    if visit.saved is None:
        return html.Li([html.Strong(visit.name), html.P(visit.problem, className="soft")])
    saved = visit.saved
    counts = [counted(len(saved.labels), "label")]
    counts += [counted(len(saved.classes), "class", "classes")] if saved.classes else []  # numbers have none
    counts += [f"{len(saved.accepted):,} accepted"] if saved.accepted else []
    counts += [f"{len(saved.flagged):,} flagged"] if saved.flagged else []
    text = [
        html.Strong("Present labels" if visit.is_present else when(saved)),
        html.Span(", ".join(counts), className="soft"),
    ]
    if visit.is_present:
        return html.Li(box("row between", box("visit", *text), html.Span(f"saved {when(saved)}", className="soft")))
    name = {"aria-label": f"visit of {when(saved)}"}
    buttons = [
        act(word, kind, visit.name, kind="small", **{"aria-label": f"{word} the {name['aria-label']}"})
        for word, kind in (("Open", "open-visit"), ("Merge", "merge-visit"))
    ]
    return html.Li(box("row between", box("visit", *text), box("row", *buttons)))


def _exchange() -> list[Any]:
    links = (
        ("Two columns, CSV", "labels.csv", "export-csv", "The name or number of each row, and its label"),
        (
            "with accepted ones",
            "labels.csv?accepted=1",
            "export-csv-accepted",
            "Labels that were accepted unseen as well",
        ),
        ("Label Studio, JSON", "labels.json", "export-json", "Labels as annotations, accepted ones as predictions"),
    )
    buttons = [html.A(text, href=href, id=id, className="button small", title=about) for text, href, id, about in links]
    take = act("Choose a file…", "import-labels", kind="small", id="import-labels")
    about = soft(
        "A CSV file of two columns, or an export of Label Studio (JSON). Labels in the file replace the present ones "
        "of the same rows, in one step that can be undone; all other rows keep theirs."
    )
    return [html.H3("Export"), box("row", *buttons), html.H3("Import"), about, box("row", take)]
