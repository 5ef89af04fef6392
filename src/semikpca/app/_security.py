"""Who may see the page: whoever has the token, under a name of this computer."""

import hmac
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Response, redirect, request

from semikpca.app._addresses import as_address, host_name, is_loopback, own_names
from semikpca.app._error_pages import refusal
from semikpca.app._shaders import ScriptPolicy

COOKIE = "semikpca_token"  # and the port: browsers send a cookie to every port of a computer
_TOKEN_NEEDED = (
    "This page needs its token. Open the address that semikpca app printed when it started, with ?token=… at its end. "
    "If the program was started again since, it may have a new one. All labels are saved."
)


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def cookie_name() -> str:
    """Return the name of the cookie of this page: with the port that the browser knows, also through a tunnel."""
    return f"{COOKIE}_{urlsplit(f'//{request.host}').port or 80}"


def is_same(given: str, token: str) -> bool:
    """Compare in a time that tells nothing of how much of it was right."""
    return hmac.compare_digest(given.encode(), token.encode())


def guard(
    server: Flask, host: str, token: str | None, script_hashes: list[str], allowed_hosts: Collection[str] = ()
) -> None:
    """Refuse requests that do not come from the page itself, and tell browsers what the page may do."""
    names = own_names(host) | {host_name(name) for name in allowed_hosts}
    scripts = ScriptPolicy(script_hashes)
    scripts.add_route(server)

    @server.before_request
    def check() -> Any:
        # A foreign site whose name was made to point here (DNS rebinding) has its own name in the Host header. A bare
        # address cannot be such a name; one that is not loopback is ours where the page answers other computers.
        try:
            asked = (urlsplit(f"//{request.host}").hostname or "").lower().rstrip(".")
            cookie = cookie_name()
        except ValueError:  # no address at all, or a port that is none
            asked, cookie = "", ""
        is_ours = asked in names or is_loopback(asked) or (not is_loopback(host) and as_address(asked) is not None)
        if not is_ours:
            remedy = f"If it is a name of this computer, start semikpca app with --allow-host {asked}." if asked else ""
            return refusal(403, f"“{asked}” is not an address of this page. {remedy}".rstrip())
        origin = request.headers.get("Origin")
        if origin is not None and _host_of(origin) != request.host:
            return refusal(403, "Requests from other pages are not answered.")
        if token is None:
            return None
        given = request.args.get("token")
        if given is not None and request.method == "GET" and is_same(given, token):
            welcome = redirect(request.path)  # the token leaves the address bar, and with it the history
            welcome.set_cookie(cookie, token, httponly=True, samesite="Strict")
            return welcome
        if is_same(request.cookies.get(cookie, ""), token):
            return None
        return refusal(403, _TOKEN_NEEDED)

    @server.after_request
    def restrict(response: Response) -> Response:
        rules = {
            "default-src": "'self'",
            "script-src": scripts.rule,
            "style-src": "'self' 'unsafe-inline'",
            "img-src": "'self' data: blob:",
            "object-src": "'none'",
            "frame-ancestors": "'none'",
            "base-uri": "'none'",
            "form-action": "'self'",
        }
        response.headers["Content-Security-Policy"] = "; ".join(f"{name} {value}" for name, value in rules.items())
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        if not request.path.startswith(("/assets/", "/_dash-component-suites/")):
            response.headers["Cache-Control"] = "no-store"
        return response
