"""Who may see the page: this computer only, or whoever has the token."""

import hmac
import ipaddress
import socket
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Response, redirect, request

COOKIE = "semikpca_token"
_TOKEN_NEEDED = (
    "This page needs its token. Open the address that semikpca app printed when it started, with ?token=… at its end."
)


def is_loopback(host: str) -> bool:
    """Return whether an address can only be reached from this computer."""
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def guard(server: Flask, host: str, token: str | None, script_hashes: list[str]) -> None:
    """Refuse requests that do not come from the page itself, and tell browsers what the page may do."""
    names = {"localhost", host.lower()} | ({socket.gethostname().lower()} if token is not None else set())

    @server.before_request
    def check() -> Any:
        # A foreign site whose name was made to point here (DNS rebinding) has its own name in the Host header.
        asked = (urlsplit(f"//{request.host}").hostname or "").lower()
        # A bare address is ours where it is loopback, and any other one where a token is asked for.
        if not (asked in names or is_loopback(asked) or (token is not None and _address(asked) is not None)):
            return _refused(f"{asked} is not the address of this page.")
        origin = request.headers.get("Origin")
        if origin is not None and _host_of(origin) != request.host:
            return _refused("Requests from other pages are not answered.")
        if token is None:
            return None
        given = request.args.get("token")
        if given is not None and request.method == "GET" and hmac.compare_digest(given.encode(), token.encode()):
            welcome = redirect(request.path)  # the token leaves the address bar, and with it the history
            welcome.set_cookie(COOKIE, token, httponly=True, samesite="Strict")
            return welcome
        if hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), token.encode()):
            return None
        return _refused(_TOKEN_NEEDED)

    @server.after_request
    def restrict(response: Response) -> Response:
        rules = {
            "default-src": "'self'",
            # Plotly compiles the programs of its WebGL map with new Function.
            "script-src": " ".join(["'self'", "'unsafe-eval'", *script_hashes]),
            "style-src": "'self' 'unsafe-inline'",
            "img-src": "'self' data: blob:",
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


def _refused(reason: str) -> Response:
    return Response(reason, status=403, mimetype="text/plain")
