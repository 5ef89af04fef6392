"""What the server says when it does not do what it was asked for: a page for people, one line for programs."""

import html

from flask import Response, request

_TITLES = {
    400: "This request cannot be read",
    403: "This page is not open to you",
    404: "There is nothing here",
    405: "This cannot be done here",
    413: "This is too large",
}
_FAULT = "A fault of the program"
# For refusals that have no words of their own.
_WORDS = {
    404: "This address is no part of the labeling page.",
    405: "This address can be opened, or sent to, but not in this way.",
    500: "Something went wrong on the side of the program; what it was stands where it was started. "
    "The labels given so far are saved.",
}
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} – semikpca</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#f4f6f5, #0e1311);
  color: light-dark(#17201c, #e6ece9); font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Arial, sans-serif; }}
main {{ box-sizing: border-box; width: min(36rem, 100% - 2rem); padding: 1.5rem 1.75rem 1.75rem; border-radius: .7rem;
  background: light-dark(#ffffff, #171d1a); border: 1px solid light-dark(#dbe2de, #2a3430); overflow-wrap: anywhere; }}
.brand {{ font: 600 1.05rem/1.2 Georgia, "Liberation Serif", serif; color: light-dark(#0b6b45, #6fd3a5); }}
h1 {{ font: 600 1.6rem/1.25 Georgia, "Liberation Serif", serif; margin: .6rem 0 .5rem; }}
p {{ margin: 0 0 .6rem; }}
a {{ color: light-dark(#0b6b45, #6fd3a5); }}
.soft {{ color: light-dark(#55625c, #a3b1aa); font-size: .85rem; margin: 0; }}
</style>
</head>
<body>
<main>
<span class="brand">semikpca</span>
<h1>{title}</h1>
<p>{text}</p>
{more}<p class="soft">Error {status}</p>
</main>
</body>
</html>
"""
_BACK = '<p><a href="/">To the labeling page</a></p>\n'


def refusal(status: int, text: str | None = None) -> Response:
    """Return an answer that refuses, in the words of the page; programs get the text alone."""
    words = text or _WORDS.get(status) or _WORDS[500]
    if request.accept_mimetypes.best_match(["text/plain", "text/html"], default="text/plain") != "text/html":
        return Response(words, status=status, mimetype="text/plain")
    title = _TITLES.get(status, _FAULT if status >= 500 else _TITLES[400])
    page = _PAGE.format(title=title, text=html.escape(words), status=status, more="" if status == 403 else _BACK)
    return Response(page, status=status, mimetype="text/html")


def own_words(status: int, description: str | None) -> str | None:
    """Return what to say of a refusal that the web server made: ours where it has only words of its own."""
    return None if status in _WORDS else description
