"""The secret in the address of the page."""

import logging
import os
import re
import secrets
import stat
from pathlib import Path

from semikpca.app._addresses import is_loopback
from semikpca.app._autosave import state_folder

logger = logging.getLogger("semikpca")

NO_TOKEN = ""  # asked for in place of a token: whoever reaches the page may use it
_BYTES = 32
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")  # so many bytes in letters


def token_for(host: str) -> str:
    """Return the token of a page: on loopback the one of this user's earlier pages, otherwise a new one.

    A page that is open finds its program again after a restart, and so must find its token. One that went over a
    network, where anyone on the way can read it, is not used for longer than the program runs.
    """
    return kept_token(state_folder() / "token") if is_loopback(host) else new_token()


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(_BYTES)


def kept_token(path: Path) -> str:
    """Return the token in a file that only its owner can read; made where there is none, or none that can be trusted.

    Where nothing can be written, the token is good until the program ends.
    """
    token = new_token()
    try:
        if (known := _read(path)) is not None:
            return known
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Written under another name first: of two programs that start at once, both have what the first one wrote.
        partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(token)
            try:
                os.link(partial, path)
            except FileExistsError:
                if (known := _read(path)) is not None:
                    return known
                os.replace(partial, path)  # what is there cannot be trusted
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        logger.info("The token of the page is not kept in %s: %s", path, error)
    return token


def _read(path: Path) -> str | None:
    """Return a token that was kept; None where there is none, or where others could read or have written it."""
    try:
        # Not through a link: where it leads to is not for somebody else to say.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    with os.fdopen(descriptor, encoding="ascii", errors="replace") as file:
        about = os.fstat(descriptor)
        if hasattr(os, "getuid") and (about.st_uid != os.getuid() or stat.S_IMODE(about.st_mode) & 0o077):
            return None
        text = file.read(200)
    return text if _TOKEN.fullmatch(text) else None
