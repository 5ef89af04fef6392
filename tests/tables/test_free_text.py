"""Which columns are free text, and how an encoder reads them into numbers."""

import numpy as np
import pandas as pd
import pytest

from semikpca.exceptions import TextEncoderError
from semikpca.tables import (
    ColumnRoles,
    TableToNumbers,
    _encoders,
    feature_counts,
    feature_kinds,
    feature_places,
    find_encoder,
    is_free_text,
    make_vectorizer,
    plain_text,
    text_reading,
)
from text_encoders import CountingEncoder

SENTENCES = ["the parcel was lost on its way", "what does a year of this cost", "it crashes whenever I print a page"]
GEORGIAN = [
    "ჩვენი ფრენა ორი საათით დაიგვიანა",
    "მუზეუმი დილით ათ საათზე იხსნება",
    "ბანკმა ისევ გაზარდა საპროცენტო განაკვეთები",
]
N = 60


def column(cells, n=N):
    """Return different cells that begin with those given, one after the other."""
    return pd.Series([f"{cells[row % len(cells)]} {row}" for row in range(n)], dtype=object)


def mixed():
    return pd.DataFrame(
        {
            "when": pd.date_range("2025-01-01", periods=N).strftime("%d %B %Y at %H:%M").astype(object),
            "code": [f"AB-{row:05d}" for row in range(N)],
            "who": [f"{first} {last}" for first in ("Ann", "Bob", "Eve") for last in map(chr, range(97, 117))],
            "plan": ["the small plan of last year", "the large plan of last year"] * (N // 2),
            "size": np.arange(float(N)),
            "words": column(SENTENCES),
        }
    )


def fitted(frame, encoder="static", **options):
    return TableToNumbers(text_encoder=encoder, **options).fit(frame)


@pytest.mark.parametrize(
    ("cells", "answer"),
    [
        (column(SENTENCES), True),
        (column(["red", "blue"]), False),  # two words with the number: names, sizes, streets
        (pd.Series(SENTENCES, dtype=object), True),  # few rows, all different
        (pd.Series(SENTENCES * 20, dtype=object), False),  # categories, if long ones
        (pd.Series(["12 March 2025 at 10:00", "13 March 2025 at 11:00"] * 30, dtype=object), False),
        (pd.Series(["12 March 2025 10:00 EST", "13 March 2025 11:00 XYZ"] * 30, dtype=object), False),
        (pd.Series([f"+49 30 12 34 {row:02d}" for row in range(60)], dtype=object), False),
        (pd.Series(["x" * row for row in range(1, 60)], dtype=object), False),
        (pd.Series(["这张发票有误请重新寄一份给我" + str(row) for row in range(60)], dtype=object), True),
        (pd.Series(np.arange(60.0)), False),
        (pd.Series(pd.date_range("2025-01-01", periods=60)), False),
        (pd.Series([None] * 60, dtype=object), False),
        (pd.Series(["n/a", " ", None] * 20, dtype=object), False),
    ],
)
def test_sentences_are_free_text(cells, answer):
    assert is_free_text(cells) is answer


def test_free_text_is_read_by_its_meaning_and_codes_and_names_by_their_letters():
    vectorizer = fitted(mixed())
    assert vectorizer.embedded_ == ("words",)
    assert feature_kinds(vectorizer) == {
        "numbers": ["size"],
        "dates": ["when"],
        "categories": ["plan"],
        "text": ["code", "who", "words"],
    }
    assert feature_counts(vectorizer)["words"] == 256
    assert feature_counts(vectorizer)["code"] <= 30
    assert text_reading(vectorizer) == (
        f"Text was read by its meaning, with static ({find_encoder('static').identity.version}) ('words') and by its "
        "letters ('code', 'who')."
    )


def test_declared_text_is_always_read_by_its_meaning():
    one_by_one = fitted(mixed(), text=("code", "plan", "size")).embedded_[:4]
    assert one_by_one == ("code", "plan", "size", "words")


def test_letters_are_compared_where_they_are_asked_for():
    vectorizer = fitted(mixed(), "ngrams")
    assert vectorizer.embedded_ == ()
    assert vectorizer.encoder_ is None
    assert feature_counts(vectorizer)["words"] <= 30
    assert text_reading(vectorizer) == "Text was read by its letters."
    assert text_reading(fitted(mixed()[["size"]])) == ""


def test_the_numbers_of_a_text_are_its_vector_centered_and_scaled_as_a_whole():
    frame = mixed()[["words"]]
    X = fitted(frame).transform(frame)
    vectors = find_encoder("static").encode([plain_text(text) for text in frame["words"]]).astype(float)
    centered = vectors - vectors.mean(axis=0)
    np.testing.assert_allclose(X, centered * np.sqrt(6.0 / centered.var(axis=0).sum()), atol=1e-5)


def test_places_say_which_numbers_a_column_became():
    frame = mixed().assign(same="x")
    vectorizer = fitted(frame)
    X, places = vectorizer.transform(frame), feature_places(vectorizer)
    assert sorted(place for taken in places.values() for place in taken) == list(range(X.shape[1]))
    assert len(places["same"]) == 0
    for name in ("words", "size", "plan"):
        alone = fitted(frame[[name]]).transform(frame[[name]])
        np.testing.assert_allclose(X[:, list(places[name])], alone, atol=1e-6)


def test_missing_texts_have_numbers_and_equal_ones():
    frame = mixed()[["words"]]
    frame.loc[[3, 5, 7], "words"] = [None, "  ", np.nan]
    X = fitted(frame).transform(frame)
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(X[[3, 5]], X[[5, 7]])


def test_new_rows_get_the_numbers_of_equal_old_rows():
    frame = mixed()
    vectorizer = fitted(frame)
    np.testing.assert_array_equal(vectorizer.transform(frame.iloc[10:20]), vectorizer.transform(frame)[10:20])


def test_each_text_is_read_once_in_a_fit_and_its_transform(monkeypatch):
    encoder = CountingEncoder()
    monkeypatch.setattr("semikpca.tables._vectorizer.find_encoder", lambda name: encoder)
    monkeypatch.setattr("semikpca.tables._vectorizer.encoder_like", lambda identity: encoder)
    monkeypatch.setattr("semikpca.tables._vectorizer.MOST_ROWS_TO_LEARN_FROM", 50)
    frame = pd.concat([mixed()] * 3, ignore_index=True)[["words"]]
    X = TableToNumbers(text_encoder="counting").fit_transform(frame)
    assert sorted(encoder.asked) == sorted(set(frame["words"]))
    np.testing.assert_array_equal(X, TableToNumbers(text_encoder="counting").fit(frame).transform(frame))


def test_another_encoder_than_in_the_fit_is_refused(monkeypatch):
    frame = mixed()
    vectorizer = fitted(frame)
    other = CountingEncoder("static")
    monkeypatch.setattr(_encoders, "_found", lambda name: other)
    with pytest.raises(TextEncoderError, match="another one"):
        vectorizer.transform(frame)


# -- languages ----------------------------------------------------------------------------------------------------


def test_a_language_of_which_nothing_is_known_is_left_to_its_letters_with_a_note():
    frame = pd.DataFrame({"georgian": column(GEORGIAN), "english": column(SENTENCES)})
    vectorizer = fitted(frame, "auto")
    assert vectorizer.embedded_ == ("english",)
    assert feature_kinds(vectorizer)["text"] == ["georgian", "english"]
    (note,) = vectorizer.notes_
    assert "'georgian'" in note
    assert "compared by their letters" in note
    assert "--text-encoder" in note


def test_an_encoder_that_was_asked_for_by_name_is_used_and_the_note_says_what_it_is_worth():
    vectorizer = fitted(pd.DataFrame({"georgian": column(GEORGIAN)}), "static")
    assert vectorizer.embedded_ == ("georgian",)
    assert "knows nothing of other languages" in vectorizer.notes_[0]


def test_a_language_of_which_little_is_known_is_noted():
    german = ["das Paket ist auf dem Weg verloren", "was kostet das für ein ganzes Jahr"]  # codespell:ignore
    vectorizer = fitted(pd.DataFrame({"words": column(german)}), "auto")
    assert vectorizer.embedded_ == ("words",)
    assert "do not look English" in vectorizer.notes_[0]
    assert fitted(mixed(), "auto").notes_ == ()


def test_roles_say_which_encoder_reads():
    assert make_vectorizer(ColumnRoles("label")).text_encoder == "auto"
    assert make_vectorizer(ColumnRoles("label", text_encoder="ngrams")).text_encoder == "ngrams"
