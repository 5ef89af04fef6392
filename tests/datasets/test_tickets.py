"""Support tickets: what a table of them is like."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from semikpca.datasets import make_support_tickets
from semikpca.datasets._tickets import WORDS
from semikpca.tables import read_table

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "make_support_tickets.py"
CATEGORIES = ["account", "billing", "connection", "contract", "delivery"]
COLUMNS = "ticket_id opened channel product plan subject message n_replies hours_open satisfaction category".split()


@pytest.fixture(scope="module")
def tickets():
    return make_support_tickets(600, 40, 0, return_truth=True)


def test_the_columns_are_those_of_a_help_desk(tickets):
    frame, truth = tickets
    assert list(frame) == COLUMNS
    assert frame.shape == (600, 11)
    assert sorted(set(truth)) == CATEGORIES


def test_forty_rows_have_their_true_category_and_the_others_none(tickets):
    frame, truth = tickets
    given = frame["category"].to_numpy()
    assert (given != "").sum() == 40
    assert (given == truth)[given != ""].all()
    assert min(np.sum(given == category) for category in CATEGORIES) >= 3


def test_categories_are_of_unequal_size(tickets):
    counts = pd.Series(tickets[1]).value_counts()
    assert counts["connection"] > 2 * counts["contract"]


def test_some_cells_are_missing_and_dates_span_a_year(tickets):
    frame, _ = tickets
    assert frame["satisfaction"].isna().mean() == pytest.approx(0.55, abs=0.08)
    assert all(0 < frame[name].isna().mean() < 0.15 for name in ("plan", "subject", "hours_open"))
    assert (frame["opened"].max() - frame["opened"].min()).days > 340
    assert frame["ticket_id"].is_unique


def test_messages_vary_and_none_has_an_unfilled_slot(tickets):
    messages = tickets[0]["message"]
    assert messages.nunique() > 0.97 * len(messages)
    assert not messages.str.contains(r"[][{}|]").any()


def test_messages_are_as_short_and_as_long_as_people_write_them(tickets):
    words = tickets[0]["message"].str.split().str.len()
    assert words.min() == 3
    assert 100 < words.max() < 150
    assert 15 < words.median() < 50


def test_some_messages_hold_html_quoted_mail_or_no_capitals(tickets):
    messages = tickets[0]["message"]
    for pattern in ("<p>|<div>", "\n> ", "^[^A-Z]*$"):
        assert 0.02 < messages.str.contains(pattern).mean() < 0.3


def test_a_case_has_enough_sentences_that_none_is_said_twice():
    for cases in WORDS["cases"].values():
        for case in cases:
            assert all(len(case[part]) >= n for part, n in {"says": 2, "brief": 1, "adds": 4, "asks": 2}.items()), case


def test_the_same_seed_gives_the_same_tickets(tickets):
    pd.testing.assert_frame_equal(make_support_tickets(), tickets[0])
    assert not make_support_tickets(random_state=1)["message"].equals(tickets[0]["message"])


def test_text_tells_most_and_numbers_some():
    frame, truth = make_support_tickets(1000, 40, 1, return_truth=True)
    model = LogisticRegression(max_iter=1000)
    by_text = cross_val_score(model, TfidfVectorizer().fit_transform(frame["message"]), truth).mean()
    numbers = np.log1p(frame[["n_replies", "hours_open"]].fillna(frame[["n_replies", "hours_open"]].mean()))
    by_numbers = cross_val_score(model, numbers, truth).mean()
    # Some tickets are vague or about two things, so that nobody can be right on all of them.
    assert 0.9 < by_text < 0.995
    assert 0.4 < by_numbers < 0.7


@pytest.mark.parametrize(("arguments", "message"), [((600, 14), "15 or more"), ((30, 40), "n_labels=40 or more")])
def test_sizes_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_support_tickets(*arguments)


def test_the_example_writes_a_file_and_says_what_is_in_it(tmp_path, monkeypatch, capsys):
    path = tmp_path / "tickets.xlsx"
    monkeypatch.setattr(sys, "argv", [EXAMPLE.name, str(path), "--rows", "50", "--labels", "20"])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert "50 tickets, 20 of them with a category" in capsys.readouterr().out
    assert read_table(path).frame.shape == (50, 11)
