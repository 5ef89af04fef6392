"""Which scripts browsers may run on the page: those that come from it, and no text that became a program.

Plotly draws the map with programs that it writes as text and compiles, which a policy against just that would forbid.
They are always the same few, so ``assets/shaders.js`` has them as code and hands them out. A browser, or another
release of Plotly, whose programs are not among them asks for the weaker policy, and is loaded again with it.
"""

import logging

from flask import Flask, Response

logger = logging.getLogger("semikpca")


class ScriptPolicy:
    """The rule for scripts, as strict as the browser in use allows."""

    def __init__(self, script_hashes: list[str]) -> None:
        self._hashes = script_hashes
        self._is_relaxed = False

    @property
    def rule(self) -> str:
        """What stands after ``script-src``."""
        return " ".join(["'self'", *(["'unsafe-eval'"] if self._is_relaxed else []), *self._hashes])

    def add_route(self, server: Flask) -> None:
        """Let the page ask for the weaker rule. Whoever can do that runs scripts on it already."""

        @server.post("/policy")
        def relax() -> Response:
            if not self._is_relaxed:
                logger.info("The map is drawn with programs that are not known: texts may now become programs.")
            self._is_relaxed = True
            return Response(status=204)
