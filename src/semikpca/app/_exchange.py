"""Labels that leave the page, or come to it, as files of other programs."""

from io import BytesIO
from pathlib import PurePath
from typing import Any

from flask import Flask, Response, jsonify, request, send_file
from werkzeug.exceptions import RequestEntityTooLarge

from semikpca._words import counted
from semikpca.app._opening import OpenTable
from semikpca.app._workspace import Workspace
from semikpca.workflow import (
    labels_from_csv,
    labels_from_label_studio,
    labels_to_csv,
    labels_to_label_studio,
)

_MEGABYTE = 1_000_000


def add_label_routes(server: Flask, workspace: Workspace, limit_mb: int) -> None:
    """Answer requests for the labels alone, and take labels from a file."""

    @server.get("/labels.csv")
    def as_csv() -> Any:
        return _sent(workspace, "csv")

    @server.get("/labels.json")
    def as_json() -> Any:
        return _sent(workspace, "json")

    @server.post("/labels")
    def take() -> tuple[Response, int]:
        try:
            if (request.content_length or 0) > limit_mb * _MEGABYTE:
                raise RequestEntityTooLarge
            note = import_labels(workspace, request.args.get("name", ""), request.get_data(cache=False))
        except RequestEntityTooLarge:
            return jsonify(error=f"The file is over the limit of {limit_mb} MB.", note=None), 413
        except (ValueError, OSError) as error:
            return jsonify(error=f"Nothing was changed. {error}", note=None), 400
        return jsonify(error=None, note=note), 200


def _sent(workspace: Workspace, kind: str) -> Any:
    with workspace.lock:
        if workspace.opened is None:
            return Response("No table is open.", status=404, mimetype="text/plain")
        content = exported(workspace.opened, kind, with_accepted=request.args.get("accepted") == "1")
        name = f"{PurePath(workspace.opened.name).stem}-labels.{kind}"
    return send_file(BytesIO(content), as_attachment=True, download_name=name)


def exported(opened: OpenTable, kind: str, *, with_accepted: bool = False) -> bytes:
    """Return the labels as a file; what was accepted unseen is apart in JSON, and left out of CSV unless asked for."""
    session = opened.session
    given = {row: label for row, label in enumerate(session.given.tolist()) if label is not None}
    accepted = session.accepted_labels
    if kind == "json":
        return labels_to_label_studio(opened.table, opened.roles, given, accepted)
    return labels_to_csv(opened.table, opened.roles, {**accepted, **given} if with_accepted else given)


def import_labels(workspace: Workspace, name: str, content: bytes) -> str:
    """Put the labels of a file on the rows of the open table, in one step; return what was done."""
    with workspace.lock:
        opened = workspace.opened
        if opened is None:
            raise ValueError("No table is open.")
        read = labels_from_label_studio if name.lower().endswith(".json") else labels_from_csv
        found = read(content, opened.table, opened.roles)
        n_replaced = opened.session.import_labels(found.labels, found.accepted, PurePath(name).name)
    more = f" and {counted(len(found.accepted), 'accepted one')}" if found.accepted else ""
    replaced = f" {counted(n_replaced, 'row', 'rows')} had another label." if n_replaced else ""
    return f"{counted(len(found.labels), 'label')}{more} came from the file.{replaced} Undo takes that back."
