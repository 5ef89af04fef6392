"""Text as people write it, made plain: what was said last, in words.

Every step takes time in proportion to the length: patterns never look at a letter from two places, and what is searched
for and not there is searched for once.
"""

import html
import re
from urllib.parse import unquote

CLEANING_VERSION = 1
"""Goes up with every change that makes other words of a text, since stored models rely on the same ones."""

LONGEST_RAW, LONGEST_TEXT = 100_000, 20_000  # letters of a cell that are looked at, and that are left of them
LONGEST_WORD = 40  # longer runs of letters and digits are keys, hashes and attachments

_INLINE = "a abbr b bdi bdo cite code del dfn em font i ins kbd mark q s samp small span strike strong sub sup u var"
_BLOCKS = (
    "address article aside audio base blockquote body br button canvas caption center col colgroup dd details div "
    "dl dt fieldset figcaption figure footer form frame h1 h2 h3 h4 h5 h6 head header hr html iframe img input "
    "label legend li link main map meta nav noscript object ol optgroup option p param picture pre script section "
    "select source style summary svg table tbody td template textarea tfoot th thead title tr track ul video wbr"
)


_BREAKS = dict.fromkeys(_INLINE.split(), "") | dict.fromkeys(_BLOCKS.split(), "\n")
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)(?:[\s/][^<>]*)?>")
_OTHER_TAG = re.compile(r"<(?:!doctype|\?xml)[^<>]*>|</?o:p>", re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style)(?=[\s>/])", re.IGNORECASE)
_END_OF_HIDDEN = {name: re.compile(rf"</{name}", re.IGNORECASE) for name in ("script", "style")}

_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"']+", re.IGNORECASE)
_PATH_WORD = re.compile(r"[^\W\d_]{2,}")
_NO_WORD = re.compile(rf"[A-Za-z0-9+/=_-]{{{LONGEST_WORD + 1},}}")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")

_OLDER_MESSAGE = re.compile(
    r"[-_=* ]*(?:original message|forwarded message|original-nachricht|ursprüngliche nachricht"
    r"|weitergeleitete nachricht|message d'origine|message transféré|mensaje original|mensaje reenviado)[-_=* :]*",
    re.IGNORECASE,
)
# How mail programs announce what is answered: the beginnings and ends of a line, or of two.
_BEGINNINGS, _ENDS, _GERMAN = ("on ", "am ", "le ", "el "), ("wrote:", "a écrit :", "escribió:"), " schrieb "
_LONGEST_ANNOUNCEMENT = 300
_HEADERS = ("sent:", "date:", "to:", "subject:", "gesendet:", "an:", "betreff:", "envoyé :", "enviado:")
_FROM = ("from:", "von:", "de :", "de:")


def plain_text(text: str) -> str:
    r"""Return a text without markup, quoted mails, signatures, addresses of pages, and strings that are no words.

    Of a mail thread the newest part is kept, unless nothing of it is left. At most 20,000 letters come back, from at
    most 100,000.

    Examples
    --------
    >>> plain_text("<p>Where is my <b>parcel</b>?&nbsp;See https://example.com/track/my-parcel?id=7</p>")
    'Where is my parcel? See example.com track my parcel'
    >>> plain_text("Thank you!\n\nOn Monday Ann wrote:\n> Shall we?\n-- \nBob")
    'Thank you!'
    """
    text = text[:LONGEST_RAW]
    if "<" in text:
        text = _without_markup(text)
    if "&" in text:
        text = html.unescape(text)
    if "\n" in text or "\r" in text:
        text = _newest_part(text)
    text = _URL.sub(_words_of_address, text)
    if not (shorter := _NO_WORD.sub(" ", text)).strip():
        shorter = text[:LONGEST_WORD]  # the only word that there is
    plain = " ".join(shorter.split())[:LONGEST_TEXT]
    # Half of a pair of surrogates, as damaged files have them, is no letter to any tokenizer.
    return plain.encode("utf-8", "replace").decode()


# -- HTML --------------------------------------------------------------------------------------------------------


def _without_markup(text: str) -> str:
    text = _without_comments(_without_hidden(text))
    return _OTHER_TAG.sub(" ", _TAG.sub(lambda tag: _BREAKS.get(tag.group(1).lower(), tag.group()), text))


def _without_hidden(text: str) -> str:
    """Leave out scripts and styles; one that does not end goes on to the end of the text."""
    kept, place = [], 0
    while (start := _HIDDEN.search(text, place)) is not None:
        kept.append(text[place : start.start()])
        end = _END_OF_HIDDEN[start.group(1).lower()].search(text, start.end())
        if end is None:
            return " ".join(kept)
        place = end.start()  # what is left of the closing tag goes with the others
    return " ".join([*kept, text[place:]])


def _without_comments(text: str) -> str:
    kept, place = [], 0
    while (start := text.find("<!--", place)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept.append(text[place:start])
        place = end + 3
    return " ".join([*kept, text[place:]])


# -- mails -------------------------------------------------------------------------------------------------------


def _newest_part(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    is_quoted_below = _is_quoted_below(lines)
    kept: list[str] = []
    says_something = False
    place = 0
    while place < len(lines):
        line, n_announcing = lines[place], _announcement(lines, place)
        if n_announcing:
            # Between quoted lines there may be answers; without marks, all that follows is the older message.
            if says_something and not is_quoted_below[place + n_announcing - 1]:
                break
            place += n_announcing
            continue
        if says_something and (line == "--" or _OLDER_MESSAGE.fullmatch(line) or _is_header(lines, place)):
            break
        if not line.startswith(">"):
            kept.append(line)
            says_something = says_something or _LETTER_OR_DIGIT.search(line) is not None
        place += 1
    return "\n".join(kept if says_something else (line.lstrip("> ") for line in lines))


def _is_quoted_below(lines: list[str]) -> list[bool]:
    """Return for each line whether the next one with something in it is quoted."""
    answers, is_quoted = [], False
    for line in reversed(lines):
        answers.append(is_quoted)
        if line:
            is_quoted = line.startswith(">")
    return answers[::-1]


def _announcement(lines: list[str], place: int) -> int:
    """Return how many lines say who wrote the older message: 0, 1 or 2."""
    for n_lines in (1, 2):
        words = " ".join(lines[place : place + n_lines])[: _LONGEST_ANNOUNCEMENT + 1].lower().lstrip("> ")
        if not words.startswith(_BEGINNINGS) or len(words) > _LONGEST_ANNOUNCEMENT:
            return 0
        if words.endswith(_ENDS) or (words.endswith(":") and _GERMAN in words):
            return n_lines
    return 0


def _is_header(lines: list[str], place: int) -> bool:
    """Whether the head of a mail begins here: who it is from, and two lines more of its kind."""
    if not lines[place][:10].lower().startswith(_FROM):
        return False
    following = [line[:10].lower() for line in lines[place + 1 : place + 5]]
    return sum(line.startswith(_HEADERS) for line in following) >= 2


# -- addresses of pages ------------------------------------------------------------------------------------------


def _words_of_address(found: re.Match[str]) -> str:
    """Return the host of an address and the words of its path."""
    address = re.sub(r"^https?://", "", found.group().split("?")[0].split("#")[0], flags=re.IGNORECASE)
    host, _, path = address.partition("/")
    host = host.rpartition("@")[2].partition(":")[0].lower().removeprefix("www.").rstrip(".,;)")
    return " ".join([host, *_PATH_WORD.findall(unquote(path))])
