"""Texts made plain: markup, mails, addresses, and what is no word; in time that grows with the length."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semikpca.tables import _cleaning, plain_text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("plain words stay", "plain words stay"),
        ("  blanks \t and\nlines  ", "blanks and lines"),
        ("", ""),
        (" \n ", ""),
        # HTML
        ("<p>one</p><p>two</p>", "one two"),
        ("<B>H</B>ello <a href='x'>there</a>", "Hello there"),
        ("a<br/>b<BR>c", "a b c"),
        ("<style>p { color: red }</style>seen<script>if (a < b) alert('x')</script>", "seen"),
        ("<SCRIPT src=x>hidden</SCRIPT >seen", "seen"),
        ("seen <script>never closed", "seen"),
        ("one<!-- hidden <b>x</b> -->two", "one two"),
        ("one <!-- never closed", "one <!-- never closed"),
        ("<!DOCTYPE html><html><body>text</body></html>", "text"),
        ("fish &amp; chips &lt;3 na&iuml;ve&nbsp;&#8364;5", "fish & chips <3 naïve €5"),
        ("if a <b and c> d, x<y", "if a d, x<y"),  # <b …> is a tag
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("write to <ann@example.com>", "write to <ann@example.com>"),
        # addresses of pages
        ("see https://www.example.com/red-shoes/size_40?id=3#top now", "see example.com red shoes size now"),
        ("see www.example.com.", "see example.com"),
        ("http://user:word@example.com:8080/%C3%BCber", "example.com über"),
        # what is no word
        ("key " + "QUJD" * 20 + " end", "key end"),
        ("Donaudampfschifffahrtsgesellschaftskapitän", "Donaudampfschifffahrtsgesellschaftskapitän"),
        ("x" * 500, "x" * 40),
        ("请求退款" * 30, "请求退款" * 30),
        # emoji and damaged letters
        ("great 😀👍🏽", "great 😀👍🏽"),
        ("half \ud83d of a pair", "half ? of a pair"),
    ],
)
def test_texts_are_made_plain(text, plain):
    assert plain_text(text) == plain


NEWEST = "Yes, please send it again."


@pytest.mark.parametrize(
    "older",
    [
        "> Shall we send it again?\n> Ann",
        "On Mon, 3 Mar 2025 at 10:00, Ann <ann@example.com> wrote:\n> Shall we?",
        "On Mon, 3 Mar 2025 at 10:00, Ann\n<ann@example.com> wrote:\n\nShall we?",
        "Am 03.03.2025 um 10:00 schrieb Ann:\n> Sollen wir?",
        "Le lun. 3 mars 2025, Ann a écrit :\n> On y va ?",
        "El lun, 3 mar 2025, Ann escribió:\n> ¿Vamos?",
        "-----Original Message-----\nFrom: Ann\nShall we?",
        "-------- Ursprüngliche Nachricht --------\nSollen wir?",
        "From: Ann\nSent: Monday\nTo: Bob\nSubject: parcel\n\nShall we?",
        "-- \nBob\nExample Ltd",
    ],
)
def test_the_newest_part_of_a_mail_is_kept(older):
    assert plain_text(f"{NEWEST}\n\n{older}\n") == NEWEST


def test_answers_between_quoted_lines_are_kept():
    text = "On Monday Ann wrote:\n> Red or blue?\nBlue.\n> How many?\nTwo.\n"
    assert plain_text(text) == "Blue. Two."


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("> Shall we?\n> Ann", "Shall we? Ann"),
        ("-- \nBob", "-- Bob"),
        ("From: Ann\nSent: Monday\nTo: Bob\n\nShall we?", "From: Ann Sent: Monday To: Bob Shall we?"),
        ("On Monday Ann wrote:\n> Shall we?", "On Monday Ann wrote: Shall we?"),
    ],
)
def test_the_older_part_is_kept_where_nothing_else_is_there(text, plain):
    assert plain_text(text) == plain


def test_a_mail_in_html_is_both():
    text = "<div>Thanks!</div><div>On Monday Ann wrote:<br><blockquote>Shall we?</blockquote></div>"
    assert plain_text(text) == "Thanks!"


def test_long_texts_are_cut():
    assert len(plain_text("word " * 100_000)) <= _cleaning.LONGEST_TEXT
    # Markup does not count to what is left, but to what is looked at.
    assert plain_text("<i></i>" * 10_000 + "word") == "word"
    assert "word" not in plain_text("<i></i>" * 20_000 + "word")


@pytest.mark.parametrize(
    "piece",
    "<|<a |<script |<script></script>|<!--|&|&#|> |On |On x\n|On a\nwrote:\n|From:\n|a\n|\n--\n|www.|https://a/|%|=|x|0"
    "|Original message\n|schrieb :\n|\n>| ".split("|"),
)
def test_time_grows_with_the_length_and_not_with_its_square(piece, monkeypatch):
    monkeypatch.setattr(_cleaning, "LONGEST_RAW", 10**9)
    monkeypatch.setattr(_cleaning, "LONGEST_TEXT", 10**9)

    def seconds(n):
        text = (piece * (n // len(piece) + 1))[:n]
        times = []
        for _ in range(3):
            start = time.thread_time()
            plain_text(text)
            times.append(time.thread_time() - start)
        return min(times)

    # Ten times the letters; a hundred times the time would be the square. Below a millisecond a clock says little. The
    # time of this thread alone: other programs may have the processor as well.
    assert seconds(100_000) < 35 * seconds(10_000) + 0.02


@given(st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=300))
def test_any_text_becomes_one_that_can_be_written(text):
    plain = plain_text(text)
    plain.encode("utf-8")
    assert plain == " ".join(plain.split())
