"""The page as a program that answers on a port of this computer."""

import logging
import secrets
import socket
from collections.abc import Collection
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from dash import Dash
from flask import Response, jsonify, request, send_file
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.serving import BaseWSGIServer, make_server

from semikpca.app._addresses import in_url, on_this_computer
from semikpca.app._callbacks import register
from semikpca.app._error_pages import refusal
from semikpca.app._exchange import add_label_routes
from semikpca.app._layout import layout
from semikpca.app._page_words import in_page_words
from semikpca.app._requests import MOST_JSON_BYTES, refuse_what_is_malformed
from semikpca.app._security import guard
from semikpca.app._token import NO_TOKEN, token_for
from semikpca.app._workspace import Workspace

logger = logging.getLogger("semikpca")

MEGABYTE = 1_000_000
_TOO_LARGE = (
    "The file{has} is over the limit of {limit} MB. Start the page with this file, semikpca app FILE: then there is no "
    "limit."
)


@dataclass(frozen=True)
class PageServer:
    """A server that holds its port and has not begun to answer."""

    server: BaseWSGIServer
    url: str  # what to open in a browser on this computer, with the token

    def run(self) -> None:
        """Answer until the program is stopped."""
        self.server.serve_forever()


def make_app(
    workspace: Workspace,
    *,
    host: str = "127.0.0.1",
    token: str | None = None,
    limit_mb: int = 50,
    allowed_hosts: Collection[str] = (),
) -> Dash:
    """Return the page; without debug mode, and with everything it needs from this computer.

    Without a token whoever reaches the page may use it. It answers to the names of this computer and to
    ``allowed_hosts``.
    """
    app = Dash(
        __name__,
        title="semikpca",
        update_title="",  # the title of the tab does not flicker with every click
        serve_locally=True,
        add_log_handler=False,
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
    )
    app.layout = lambda: layout(workspace, limit_mb)
    register(app, workspace, limit_mb)
    _add_routes(app, workspace, limit_mb)
    add_label_routes(app.server, workspace, limit_mb)
    guard(app.server, host, token, list(app.csp_hashes()), allowed_hosts)
    refuse_what_is_malformed(app)
    return app


def _add_routes(app: Dash, workspace: Workspace, limit_mb: int) -> None:
    server = app.server
    server.config["MAX_CONTENT_LENGTH"] = max(limit_mb * MEGABYTE, MOST_JSON_BYTES)
    running = secrets.token_hex(8)  # a page that outlives its program finds out by it

    @server.get("/state")
    def state() -> Response:
        return jsonify(running=running, state=list(workspace.state()))

    @server.post("/upload")
    def upload() -> tuple[Response, int]:
        try:
            if (request.content_length or 0) > limit_mb * MEGABYTE:
                raise RequestEntityTooLarge
            workspace.receive(request.args.get("name", ""), request.get_data(cache=False))
        except RequestEntityTooLarge:
            has = "" if request.content_length is None else f" has {request.content_length / MEGABYTE:.1f} MB and"
            return jsonify(error=_TOO_LARGE.format(has=has, limit=limit_mb)), 413
        except (ValueError, OSError) as error:
            return jsonify(error=in_page_words(str(error))), 400
        return jsonify(error=None), 200

    @server.get("/layout")
    def layout_progress() -> Response:
        done, total = workspace.maps.progress() or (0, 0)
        return jsonify(done=done, total=total)

    @server.post("/acceptance")
    def acceptance() -> Response:
        # Apart from the events: it takes seconds, and a click that gives a label must not wait for it.
        opened = workspace.opened
        try:
            return jsonify(ready=opened is not None and opened.session.find_out(), error=None)
        except Exception as error:  # the border of the program: a page that waits forever helps nobody
            logger.exception("What can be accepted was not found out")
            return jsonify(ready=False, error=f"A fault of the program: {type(error).__name__}: {error}.")

    @server.get("/download")
    def download() -> Any:
        with workspace.lock:
            if workspace.opened is None:
                return refusal(404, "No table is open: there is nothing to download yet.")
            name, content = workspace.opened.download(workspace.error_rate)
        return send_file(BytesIO(content), as_attachment=True, download_name=name)


def serve(
    workspace: Workspace,
    *,
    host: str = "127.0.0.1",
    port: int = 8050,
    limit_mb: int = 50,
    token: str | None = None,
    allowed_hosts: Collection[str] = (),
) -> PageServer:
    """Return a server on a port of this computer; 0 takes a free one.

    Whoever opens the page needs its ``token``, which is part of ``url``: that of this user on loopback, a new one for
    pages that other computers see. ``NO_TOKEN`` waives it. ``allowed_hosts`` are further names of this computer.
    """
    secret = None if token == NO_TOKEN else token or token_for(host)
    app = make_app(workspace, host=host, token=secret, limit_mb=limit_mb, allowed_hosts=allowed_hosts)
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise ValueError(
            f"Port {port} of {host} cannot be used: {error.strerror or error}. Give another one with --port, or "
            "--port 0 for any that is free."
        ) from error
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # one line for each request helps nobody here
    server = make_server(host, port, app.server, threaded=True)
    query = "" if secret is None else f"?token={secret}"
    return PageServer(server, f"http://{in_url(on_this_computer(host))}:{server.port}/{query}")
