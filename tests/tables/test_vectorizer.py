"""Numbers from columns of any kind: their scale, their kinds, new rows, and storing."""

import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone

from semikpca import SemiKPCAClassifierCV
from semikpca.datasets import make_support_tickets
from semikpca.exceptions import TableError
from semikpca.labeling import leave_one_label_out
from semikpca.tables import (
    ColumnRoles,
    EncoderIdentity,
    TableToNumbers,
    feature_columns,
    feature_counts,
    feature_kinds,
    feature_places,
    features_of,
    find_encoder,
    given_labels,
    make_vectorizer,
    read_table,
    write_table,
)
from semikpca.tables._cleaning import plain_text
from semikpca.workflow._registry import FOREIGN_TYPES

ROLES = ColumnRoles("label")
TEXT_WEIGHT = 6.0  # what the documentation says
# The output has float32, whose last digit is 6e-8; sums over hundreds of rows lose two digits more.
SINGLE = 1e-5


def mixed(n_rows=300, seed=0):
    """One column of each kind, some cells missing."""
    generator = np.random.default_rng(seed)
    words = np.array(["red", "green", "blue", "paper", "stone", "water", "wood", "glass", "iron", "silk"])
    frame = pd.DataFrame(
        {
            "number": [f"{value:.3f}" for value in generator.normal(1e6, 2.0, n_rows)],
            "comma": [f"{value:.2f}".replace(".", ",") for value in generator.uniform(0, 5, n_rows)],
            "category": generator.choice(["a", "b", "c"], n_rows),
            "date": [
                f"2025-{1 + month:02d}-{1 + day:02d}" for month, day in generator.integers(0, [12, 28], (n_rows, 2))
            ],
            "text": [" ".join(generator.choice(words, 6)) for _ in range(n_rows)],
            "yes": generator.choice(["True", "False"], n_rows),
        },
        dtype=object,
    )
    frame[generator.uniform(size=frame.shape) < 0.1] = None
    return frame


def fitted(frame, roles=ROLES):
    return make_vectorizer(roles).fit(frame)


def weight_of(frame, name, roles=ROLES):
    """The variance that a column has in all of the numbers that it became."""
    vectorizer = fitted(frame[[name]], roles)
    return vectorizer.transform(frame[[name]]).astype(float).var(axis=0).sum()


# -- kinds and scale -------------------------------------------------------------------------------------------


def test_every_kind_is_found():
    assert feature_kinds(fitted(mixed())) == {
        "numbers": ["number", "comma", "yes"],
        "dates": ["date"],
        "categories": ["category"],
        "text": ["text"],
    }


def test_numbers_are_standardized_and_missing_ones_are_the_mean():
    frame = mixed()[["number", "comma"]]
    X = fitted(frame).transform(frame)
    values = frame.map(lambda cell: float(cell.replace(",", ".")) if cell else np.nan)
    expected = ((values - values.mean()) / values.std(ddof=0)).fillna(0.0)
    np.testing.assert_allclose(X, expected, atol=SINGLE)
    assert X.dtype == np.float32


def test_large_numbers_keep_the_digits_in_which_they_differ():
    # In float32 these numbers would differ by multiples of 128.
    frame = pd.DataFrame({"time": [1_700_000_000 + second for second in range(60)]})
    X = fitted(frame).transform(frame)
    np.testing.assert_allclose(np.diff(X[:, 0]), 1 / np.std(np.arange(60)), rtol=SINGLE * 100)


@pytest.mark.parametrize(("name", "weight"), [("category", 1.0), ("date", 1.0), ("text", TEXT_WEIGHT)])
def test_a_column_weighs_as_a_whole_however_many_numbers_it_becomes(name, weight):
    frame = mixed().dropna()
    assert len(feature_counts(fitted(frame[[name]]))) == 1
    assert feature_counts(fitted(frame[[name]]))[name] > 2
    assert weight_of(frame, name) == pytest.approx(weight, rel=SINGLE * 10)


def test_a_missing_category_is_a_category():
    frame = pd.DataFrame({"a": ["x", "y", None] * 10}, dtype=object)
    X = fitted(frame).transform(frame)
    assert len(np.unique(X, axis=0)) == 3


def test_a_column_can_be_declared_text():
    frame = mixed()
    assert feature_kinds(fitted(frame, ColumnRoles("label", text=("category",))))["text"] == ["category", "text"]
    assert weight_of(frame, "category", ColumnRoles("label", text=("category",))) == pytest.approx(
        TEXT_WEIGHT, rel=1e-4
    )


def test_numbers_can_be_declared_text():
    frame = pd.DataFrame({"code": [10_000 + 37 * row for row in range(60)], "x": np.arange(60.0)})
    vectorizer = fitted(frame, ColumnRoles("label", text=("code",)))
    assert feature_kinds(vectorizer) == {"numbers": ["x"], "text": ["code"]}


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,234", "56", "7,890,123.5"], [1234, 56, 7890123.5]),
        (["1.234,5", "56", "-7,25"], [1234.5, 56, -7.25]),
        (["1e3", " 2 ", "-.5"], [1000, 2, -0.5]),
        (["TRUE", "false", "True"], [1, 0, 1]),
        (["1", "n/a", "3"], [1, 2, 3]),  # what is missing becomes the mean
    ],
)
def test_numbers_are_read_as_people_write_them(cells, numbers):
    frame = pd.DataFrame({"a": cells}, dtype=object)
    X = fitted(frame).transform(frame)[:, 0]
    np.testing.assert_allclose(
        X,
        (np.array(numbers) - np.mean(numbers)) / np.std([n for n, c in zip(numbers, cells, strict=True) if c != "n/a"]),
        rtol=SINGLE,
    )


def test_columns_that_do_not_vary_are_left_out_silently():
    frame = mixed().assign(same="x", none=None, blank=" ", five=5, nothing=np.nan, words="n/a")
    vectorizer = fitted(frame)
    assert feature_kinds(vectorizer)["left out"] == ["same", "none", "blank", "five", "nothing", "words"]
    np.testing.assert_array_equal(vectorizer.transform(frame), fitted(mixed()).transform(mixed()))


def test_a_table_in_which_nothing_varies_is_refused():
    with pytest.raises(TableError, match="No column varies"):
        fitted(pd.DataFrame({"a": ["x"] * 5, "b": [1] * 5}))


@pytest.mark.parametrize("n_rows", [2, 3, 12, 40])
def test_few_rows_are_enough(n_rows):
    frame = mixed(n_rows)
    X = make_vectorizer(ColumnRoles("label", text=("text",))).fit_transform(frame)
    assert np.isfinite(X).all()


def test_the_numbers_are_finite_and_the_same_every_time():
    frame = mixed()
    X = fitted(frame).transform(frame)
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(X, make_vectorizer(ROLES).fit_transform(frame))
    np.testing.assert_array_equal(X, clone(fitted(frame)).fit(frame).transform(frame))


def test_many_rows_are_encoded_like_few(monkeypatch):
    frame = mixed()
    whole = fitted(frame)
    X = whole.transform(frame)
    monkeypatch.setattr("semikpca.tables._vectorizer.ROWS_AT_ONCE", 7)
    np.testing.assert_allclose(whole.transform(frame), X, atol=SINGLE)


def test_encoders_learn_from_a_sample_of_many_rows(monkeypatch):
    monkeypatch.setattr("semikpca.tables._vectorizer.MOST_ROWS_TO_LEARN_FROM", 100)
    frame = mixed()
    vectorizer = fitted(frame)
    assert len(feature_kinds(vectorizer)["text"]) == 1
    assert np.isfinite(vectorizer.transform(frame)).all()


def test_embeddings_are_standardized_without_a_detour(rng, monkeypatch):
    monkeypatch.setattr("semikpca.tables._vectorizer.TableVectorizer", None)
    X = rng.normal(3.0, 2.0, (50, 300)).astype(np.float32)
    frame = pd.DataFrame(X, columns=[f"e{place}" for place in range(300)])
    expected = (X - X.mean(axis=0, dtype=float)) / X.std(axis=0, dtype=float)
    np.testing.assert_allclose(fitted(frame).transform(frame), expected, atol=SINGLE)


def test_ten_thousand_categories_become_a_few_numbers():
    frame = pd.DataFrame({"city": [f"city {row % 10_000:05d}" for row in range(12_000)]}, dtype=object)
    vectorizer = fitted(frame)
    assert feature_counts(vectorizer)["city"] <= 30
    X = vectorizer.transform(frame)
    np.testing.assert_array_equal(X[0], X[10_000])


@pytest.mark.parametrize("letters", ["7", "1.", "a", "1 "])
def test_the_time_for_a_cell_does_not_grow_with_the_square_of_its_length(letters):
    def seconds(length):
        frame = pd.DataFrame({"text": [f"word {row % 7} of {row % 5}" for row in range(30)]}, dtype=object)
        frame.loc[15, "text"] = letters * (length // len(letters))
        start = time.perf_counter()
        fitted(frame).transform(frame)
        return time.perf_counter() - start

    # As a square it would be a hundred times; in proportion it is ten times, less what every fit takes.
    assert seconds(300_000) < 30 * seconds(30_000)


def test_a_column_with_a_cell_as_long_as_a_page_is_text():
    frame = pd.DataFrame({"a": ["x", "y", None, "2025-02-03 " * 500] * 5}, dtype=object)
    vectorizer = fitted(frame)
    assert vectorizer.kinds_ == {"a": "text"}
    assert np.isfinite(vectorizer.transform(frame)).all()


def test_what_comes_after_the_first_chapters_of_a_cell_does_not_count():
    long = "a word " * 15_000
    frame = pd.DataFrame({"a": ["x", "y", long, long + "another end"] * 5}, dtype=object)
    X = fitted(frame).transform(frame)
    np.testing.assert_array_equal(X[2], X[3])


def test_infinite_numbers_are_refused_with_their_place():
    frame = pd.DataFrame({"a": [1.0, 2.0, np.inf]})
    with pytest.raises(TableError, match="Column 'a', data row 3: inf"):
        fitted(frame)


# -- new rows --------------------------------------------------------------------------------------------------


def test_new_rows_get_the_numbers_of_equal_old_rows():
    frame = mixed()
    vectorizer = fitted(frame)
    np.testing.assert_array_equal(vectorizer.transform(frame.iloc[10:20]), vectorizer.transform(frame)[10:20])


def test_columns_are_found_by_name_and_others_ignored():
    frame = mixed()
    vectorizer = fitted(frame)
    shuffled = frame[list(reversed(frame.columns))].assign(more="?")
    np.testing.assert_array_equal(vectorizer.transform(shuffled), vectorizer.transform(frame))


def test_a_column_that_is_missing_is_named_with_what_may_be_meant():
    frame = mixed()
    with pytest.raises(TableError, match=r"'category', which was learned from, is missing. Is it 'Category' here"):
        fitted(frame).transform(frame.rename(columns={"category": "Category"}))


def test_a_category_never_seen_is_no_error():
    frame = mixed()
    assert np.isfinite(fitted(frame).transform(frame.assign(category="new"))).all()


@pytest.mark.parametrize(("name", "kind"), [("number", "number"), ("date", "date")])
def test_a_cell_of_another_kind_is_refused_with_its_place(name, kind):
    frame = mixed()
    changed = frame.copy()
    changed.loc[4, name] = "oops"
    with pytest.raises(TableError, match=f"Column '{name}', data row 5: 'oops' is no {kind}"):
        fitted(frame).transform(changed)


@pytest.mark.parametrize("name", ["number", "comma", "date", "category", "text"])
def test_a_word_for_missing_is_missing_in_new_rows(name):
    frame = mixed()
    assert np.isfinite(fitted(frame).transform(frame.assign(**{name: "n/a"}))).all()


def test_a_column_keeps_its_kind_when_a_new_file_has_other_types():
    text = pd.DataFrame(
        {"code": [f"{row}x" if row % 2 else str(row) for row in range(60)], "n": map(str, range(60))}, dtype=object
    )
    vectorizer = fitted(text)
    typed = pd.DataFrame({"code": [2, 4, 6], "n": [2, 4, 6]})
    np.testing.assert_array_equal(vectorizer.transform(typed), vectorizer.transform(text.iloc[[2, 4, 6]]))


def test_dates_are_the_same_as_text_and_as_dates():
    days = pd.to_datetime(pd.Series(pd.date_range("2025-01-01", periods=50, freq="3D")))
    as_dates, as_text = pd.DataFrame({"day": days}), pd.DataFrame({"day": days.dt.strftime("%Y-%m-%d").astype(object)})
    expected = fitted(as_dates).transform(as_dates)
    np.testing.assert_allclose(fitted(as_text).transform(as_dates), expected, atol=SINGLE)
    np.testing.assert_allclose(fitted(as_dates).transform(as_text), expected, atol=SINGLE)


# -- storing ---------------------------------------------------------------------------------------------------


def test_a_stored_vectorizer_gives_the_same_numbers_and_needs_no_other_types():
    frame = mixed().assign(when=pd.Timestamp("2025-01-01"), size=np.arange(300.0))
    frame.loc[::2, "when"] = pd.Timestamp("2025-03-01 12:30")
    vectorizer = fitted(frame, ColumnRoles("label", text=("category",)))
    content = skops.io.dumps(vectorizer)
    restored = skops.io.loads(content, trusted=[*FOREIGN_TYPES, TableToNumbers, EncoderIdentity])
    np.testing.assert_array_equal(restored.transform(frame), vectorizer.transform(frame))
    assert feature_kinds(restored) == feature_kinds(vectorizer)


def test_storing_does_not_change_the_vectorizer():
    frame = mixed()
    vectorizer = fitted(frame)
    X = vectorizer.transform(frame)
    skops.io.dumps(vectorizer)
    np.testing.assert_array_equal(vectorizer.transform(frame), X)


def test_a_stored_vocabulary_is_one_text_and_not_a_node_for_each_n_gram():
    content = skops.io.dumps(fitted(make_support_tickets()[["message"]]))
    # 600 messages have some 8,000 n-grams, and a node of a skops file takes about 200 bytes, twice.
    assert len(content) < 2_000_000


# -- the tickets -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tickets(tmp_path_factory):
    path = tmp_path_factory.mktemp("tickets") / "tickets.csv"
    frame, truth = make_support_tickets(300, 40, return_truth=True)
    write_table(frame, path)
    return read_table(path), truth


def accuracies(table, truth, roles):
    """Leave-one-label-out accuracy, and the share of unlabeled rows that get the true category."""
    y = given_labels(table, roles)
    X = make_vectorizer(roles).fit_transform(table.features[feature_columns(table, roles)])
    model = SemiKPCAClassifierCV(random_state=0).fit(X, y)
    unlabeled = np.array([label is None for label in y])
    return leave_one_label_out(model).accuracy, np.mean(model.transduction_[unlabeled] == truth[unlabeled])


def test_tickets_are_sorted_well_and_better_than_by_numbers_alone(tickets):
    table, truth = tickets
    left_out, right = accuracies(table, truth, ColumnRoles("category", id="ticket_id"))
    texts = ("ticket_id", "opened", "channel", "product", "plan", "subject", "message")
    _, right_by_numbers = accuracies(table, truth, ColumnRoles("category", exclude=texts))
    # The largest category has 31 % of the rows. Letter groups do not tell all: people say the same in many words.
    assert left_out > 0.55
    assert right > 0.6
    assert right > right_by_numbers + 0.1


@pytest.mark.slow  # many rows of text
def test_memory_stays_bounded_with_many_rows_of_text(rng, monkeypatch):
    letters = np.array(list("abcdefghij   "))[rng.integers(0, 13, (600, 300))]
    frame = pd.DataFrame({"text": pd.Series(["".join(row) for row in letters], dtype=object)})

    def peak(rows_at_once):
        monkeypatch.setattr("semikpca.tables._vectorizer.ROWS_AT_ONCE", rows_at_once)
        monkeypatch.setattr("semikpca.tables._vectorizer.MOST_ROWS_TO_LEARN_FROM", rows_at_once)
        tracemalloc.start()
        make_vectorizer(ColumnRoles("label", text_encoder="ngrams")).fit_transform(frame)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    # All n-grams of 40 rows, or of 600, fifteen times as many; the vocabulary is there in both.
    assert peak(40) < peak(600) / 2


# -- several texts of a row --------------------------------------------------------------------------------------


def letters(n_rows=300):
    """Return tickets with a subject and a message, some of them empty."""
    frame = make_support_tickets(n_rows=n_rows)[["subject", "message", "plan"]].astype(object)
    frame.loc[3, ["subject", "message"]] = None
    return frame


def test_several_texts_are_read_as_one_beside_each_by_itself():
    frame = letters()
    vectorizer = make_vectorizer(ColumnRoles("label")).fit(features_of(frame))
    places = feature_places(vectorizer)
    assert vectorizer.joined_ == {"subject and message as one": ("subject", "message")}
    X = vectorizer.transform(features_of(frame))
    encoder = find_encoder("static")
    one = [plain_text("\n".join(cell for cell in row if cell)) for row in frame[["subject", "message"]].to_numpy()]
    wanted = encoder.encode(one).astype(np.float64)
    kept = vectorizer.kept_["subject and message as one"]
    wanted = wanted[:, kept] - wanted[:, kept].mean(axis=0)
    wanted *= np.sqrt(vectorizer.text_weight / wanted.var(axis=0).sum())
    found = X[:, places["subject and message as one"]]
    np.testing.assert_allclose(found, wanted, atol=1e-5)  # float32


def test_in_the_whole_table_the_joined_text_stands_for_its_parts():
    vectorizer = make_vectorizer(ColumnRoles("label")).fit(features_of(letters()))
    X, places = vectorizer.transform(features_of(letters())), feature_places(vectorizer)
    total = X.var(axis=0)
    assert total[places["subject and message as one"]].sum() == pytest.approx(vectorizer.text_weight, rel=1e-4)
    assert total[places["subject"]].sum() < 1e-4
    assert total[places["message"]].sum() < 1e-4


def test_what_was_read_as_one_is_no_column_of_the_table():
    vectorizer = make_vectorizer(ColumnRoles("label")).fit(features_of(letters()))
    assert feature_kinds(vectorizer)["text"] == ["subject", "message"]
    assert sorted(place for numbers in feature_places(vectorizer).values() for place in numbers) == list(
        range(vectorizer.n_outputs_)
    )
