"""Parts of a table as views: which there are, which matter, and what is said of them."""

import numpy as np
import pandas as pd
import pytest

from semikpca.kernels import RBF, DefaultKernels, NeighborGraph, Normalized, OnColumns
from semikpca.tables import ColumnRoles, Table, features_of, make_vectorizer
from semikpca.workflow import LabelingOptions, label_table, prepare_table
from semikpca.workflow._views import EVERYTHING, View, in_words, judged_views, view_of, view_shares, views_of

TOPICS = {
    "fruit": ["apple", "pear", "cherry", "banana", "grape", "plum"],
    "tools": ["hammer", "wrench", "drill", "saw", "pliers", "chisel"],
    "music": ["piano", "violin", "trumpet", "guitar", "drums", "flute"],
}


def table_of(frame):
    return Table(frame, features_of(frame), None, "csv")


def frame_of(n_rows, *, text_says="the topic", numbers_say="nothing", seed=0):
    """Return a table with text, numbers, a date and categories, of which one kind tells the topic; and the topics."""
    generator = np.random.default_rng(seed)
    names = list(TOPICS)
    topics = np.array(names, dtype=object)[generator.integers(3, size=n_rows)]
    told = topics if text_says == "the topic" else generator.permutation(topics)
    centers = {name: 4.0 * place for place, name in enumerate(names)}
    shift = np.array([centers[topic] for topic in topics]) if numbers_say == "the topic" else np.zeros(n_rows)
    frame = pd.DataFrame(
        {
            "note": [
                f"we sold the {' and the '.join(generator.choice(TOPICS[topic], 3))} number {generator.integers(10**6)}"
                for topic in told
            ],
            "size": (shift + generator.normal(size=n_rows)).round(3).astype(str),
            "price": generator.normal(size=n_rows).round(3).astype(str),
            "day": pd.Series(pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n_rows) % 97, "D")).astype(str),
            "shop": generator.choice(["north", "south", "web"], n_rows),
            "topic": np.where(np.arange(n_rows) < 30, topics, ""),
        }
    )
    return frame.astype(object), topics


def labeled(frame, **options):
    return label_table(table_of(frame), ColumnRoles("topic"), LabelingOptions(**options))


def accuracy(result, topics):
    return np.mean(result.predicted[30:] == topics[30:])


@pytest.fixture(scope="module")
def text_tells():
    frame, topics = frame_of(240)
    return labeled(frame), topics


def test_each_kind_of_columns_is_a_view_beside_the_whole_table(text_tells):
    result, _ = text_tells
    names = {view.name: view.table_columns for view in result.views}
    assert names == {
        EVERYTHING: ("note", "size", "price", "day", "shop"),
        "the text": ("note",),
        "numbers and dates": ("size", "price", "day"),
        "categories": ("shop",),
    }
    places = [place for view in result.views[1:] for place in view.places]
    assert sorted(places) == list(range(result.X.shape[1]))


def test_several_text_columns_are_views_together_and_one_by_one():
    frame, _ = frame_of(80)
    frame["other"] = frame["note"].to_numpy()[::-1]
    vectorizer = make_vectorizer(ColumnRoles("topic")).fit(features_of(frame.drop(columns="topic")))
    assert [view.name for view in views_of(vectorizer)] == [
        EVERYTHING, "the text", "numbers and dates", "categories", "'note'", "'other'",
    ]  # fmt: skip


def test_a_vector_is_a_view_that_counts_most_where_it_alone_tells_the_labels(rng):
    frame, topics = frame_of(120, text_says="nothing")
    places = np.searchsorted(sorted(TOPICS), topics.astype(str))
    frame["vector"] = list(np.eye(3)[places] + 0.1 * rng.normal(size=(len(frame), 3)))
    result = labeled(frame)
    view = next(view for view in result.views if view.name == "'vector'")
    assert (view.table_columns, len(view.places)) == (("vector",), 3)
    assert next(iter(result.view_shares)) == "'vector'"
    assert accuracy(result, topics) > 0.95


def test_a_table_of_one_kind_has_one_view_and_the_default_kernels():
    frame, _ = frame_of(80, numbers_say="the topic")
    result = labeled(frame[["size", "price", "topic"]])
    assert [view.name for view in result.views] == [EVERYTHING]
    assert result.what_matters == ""
    assert not any(isinstance(kernel, OnColumns) for kernel in result.model.results_["kernel"])


def test_the_text_decides_where_it_alone_tells_the_labels():
    frame, topics = frame_of(240)
    noise = np.random.default_rng(1).normal(size=(240, 8)).round(3).astype(str)
    frame = pd.concat([frame, pd.DataFrame(noise, columns=list("abcdefgh"))], axis=1)
    result = labeled(frame)
    assert result.what_matters.startswith("The text (note) decides; size, price, day, shop, a, b and 6 more add ")
    assert accuracy(result, topics) >= accuracy(labeled(frame[["note", "topic"]]), topics) - 0.02


def test_numbers_decide_where_the_text_says_nothing():
    frame, topics = frame_of(240, text_says="nothing", numbers_say="the topic")
    result = labeled(frame)
    assert result.view_shares["the text"] < 0.05
    assert accuracy(result, topics) >= accuracy(labeled(frame.drop(columns="note")), topics) - 0.02


def test_named_kernels_see_all_columns():
    frame, _ = frame_of(80)
    result = labeled(frame, kernel="rbf")
    assert result.what_matters == ""
    assert not any(isinstance(kernel, OnColumns) for kernel in result.model.results_["kernel"])


def test_above_some_rows_a_sample_tells_which_views_are_fitted(monkeypatch):
    monkeypatch.setattr("semikpca.workflow._label.MOST_ROWS_FOR_ALL_VIEWS", 200)
    monkeypatch.setattr("semikpca.workflow._label.ROWS_OF_A_SAMPLE", 180)
    frame, topics = frame_of(400)
    result = labeled(frame)
    seen = {result.view_of(kernel).name for kernel in result.model.results_["kernel"]}
    assert "the text" in seen
    assert "categories" not in seen
    assert accuracy(result, topics) > 0.9


# -- shares and words --------------------------------------------------------------------------------------------

VIEWS = (View(EVERYTHING, ("a", "b", "c"), ()), View("the text", ("a",), (0, 1)), View("categories", ("b", "c"), (2,)))


def test_a_kernel_is_found_in_its_view_however_it_is_wrapped():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    inside = OnColumns(RBF(gamma=1.0), (0, 1))
    assert view_of(VIEWS, inside.fit(rows)).name == "the text"
    assert view_of(VIEWS, Normalized(inside).fit(rows)).name == "the text"
    assert view_of(VIEWS, Normalized(RBF(gamma=1.0)).fit(rows)).name == EVERYTHING
    assert view_of(VIEWS, NeighborGraph(3).fit(rows)).name == EVERYTHING
    found = DefaultKernels((2,)).fit(rows)
    assert {view_of(VIEWS, kernel).name for kernel in [*found.plain, *found.shaped]} == {"categories"}


def test_shares_are_sums_of_weights_with_the_heaviest_first():
    rows = np.zeros((4, 3))
    kernels = [OnColumns("linear", (0, 1)).fit(rows), RBF(gamma=1.0), OnColumns("linear", (0, 1)).fit(rows)]
    assert view_shares(VIEWS, kernels, [0.25, 0.25, 0.5]) == {"the text": 0.75, EVERYTHING: 0.25, "categories": 0.0}


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ({"the text": 0.97, EVERYTHING: 0.03, "categories": 0.0}, "The text (a) decides; b and c add nothing."),
        ({"categories": 0.9, EVERYTHING: 0.1, "the text": 0.0}, "Categories (b and c) decide; a adds little."),
        ({EVERYTHING: 1.0, "the text": 0.0, "categories": 0.0}, "All columns together decide."),
        (
            {"the text": 0.6, EVERYTHING: 0.3, "categories": 0.1},
            "The labels follow the text (60%), all columns together (30%) and categories (10%).",
        ),
        (
            {"the text": 0.6, "categories": 0.36, EVERYTHING: 0.04},
            "The labels follow the text (60%) and categories (36%).",
        ),
    ],
    ids=str,
)
def test_what_matters_is_said_in_words(shares, words):
    assert in_words(VIEWS, shares) == words


def needing_labels(frame):
    table, roles = table_of(frame), ColumnRoles("topic")
    prepared = prepare_table(table, roles)
    return {view.name for view in judged_views(prepared.vectorizer, prepared.X) if view.needs_labels}


def test_categories_and_unrelated_numbers_wait_for_labels():
    frame, _ = frame_of(240)
    assert needing_labels(frame) == {"numbers and dates", "categories"}


def test_numbers_that_hang_together_or_go_with_the_text_speak_for_themselves():
    frame, _ = frame_of(240)
    frame["weight"] = (2 * frame["size"].astype(float) + np.random.default_rng(1).normal(size=240)).astype(str)
    assert needing_labels(frame) == {"categories"}
    both, _ = frame_of(240, numbers_say="the topic")
    assert needing_labels(both) == {"categories"}


def test_noise_beside_a_text_costs_next_to_nothing_with_one_label_a_class():
    lost = []
    for seed in range(6):
        frame, topics = frame_of(200, seed=seed)
        rows = [int(np.flatnonzero(topics == name)[0]) for name in TOPICS]
        frame["topic"] = np.where(np.isin(np.arange(200), rows), topics, "")
        alone = labeled(frame[["note", "topic"]])
        beside = labeled(frame)
        lost.append(np.mean(alone.predicted == topics) - np.mean(beside.predicted == topics))
    assert np.mean(lost) <= 0.02
