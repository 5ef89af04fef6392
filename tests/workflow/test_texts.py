"""Texts from the table to labels and models: the encoder goes with the model, vectors are kept, nothing is fetched."""

import socket
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from semikpca.exceptions import ModelFileError, TextEncoderError
from semikpca.tables import (
    ColumnRoles,
    EncoderIdentity,
    TableToNumbers,
    _encoders,
    _text_reading,
    folder_beside,
    read_table,
)
from semikpca.workflow import label_table, load_model, save_model
from text_encoders import CountingEncoder

MODELS = Path(__file__).parent / "models"
WORDS = {
    "parcel": "my order never arrived|the package is lost|when will it be delivered|the courier left it outside",
    "money": "you charged me twice|I want my money back|the invoice is wrong|what does a year cost",
    "login": "I forgot my password|the account is locked|it does not let me sign in|the reset mail never came",
}
ROLES = ColumnRoles("topic")


def texts():
    """Return 72 texts on three topics, two of each sentence's six with a label."""
    rows = [
        {"words": f"{opening} {sentence}, {closing}", "topic": topic if number == 0 and opening == "Hello," else ""}
        for topic, sentences in WORDS.items()
        for sentence in sentences.split("|")
        for opening in ("Hello,", "Dear all,", "Hi there,")
        for number, closing in enumerate(("thanks", "regards"))
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def table(tmp_path):
    texts().to_csv(tmp_path / "texts.csv", index=False)
    return read_table(tmp_path / "texts.csv")


@pytest.fixture
def saved(table, tmp_path):
    save_model(tmp_path / "texts.model", label_table(table, ROLES))
    return tmp_path / "texts.model"


def test_texts_are_labeled_without_a_network(table, monkeypatch):
    def refused(*_, **__):
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    _encoders._found.cache_clear()
    labeled = label_table(table, ROLES)
    truth = np.repeat(list(WORDS), 24)
    assert labeled.vectorizer.encoder_.name == "static"
    assert np.mean(labeled.predicted == truth) > 0.9


def test_notes_on_languages_reach_the_user(tmp_path):
    frame = texts()
    frame["words"] = [f"ჩვენი ფრენა {row} საათით დაიგვიანა" for row in range(len(frame))]
    frame.to_csv(tmp_path / "georgian.csv", index=False)
    labeled = label_table(read_table(tmp_path / "georgian.csv"), ROLES)
    assert any("knows nothing of" in note for note in labeled.warnings)


def test_an_encoder_that_is_not_there_is_told_before_the_work(table):
    with pytest.raises(TextEncoderError, match="hf download owner/model"):
        label_table(table, ColumnRoles("topic", text_encoder="owner/model"), progress=lambda *_: pytest.fail("work"))


# -- models -------------------------------------------------------------------------------------------------------


def test_a_model_answers_for_new_texts_as_for_equal_old_ones(saved, table):
    loaded = load_model(saved)
    assert loaded.warnings == ()
    assert loaded.roles == ROLES
    predicted = loaded.predict_table(table)
    assert predicted["predicted_label"].tolist() == label_table(table, ROLES).predicted.tolist()


def test_a_model_carries_the_name_version_and_checksum_of_its_encoder_and_not_the_weights(saved):
    identity = load_model(saved).vectorizer.encoder_
    assert identity == _encoders.find_encoder("static").identity
    assert saved.stat().st_size < 2_000_000


@pytest.mark.parametrize("other", [CountingEncoder("static", "ab" * 32), None])
def test_another_encoder_is_refused_naming_both_and_the_remedy(saved, monkeypatch, other):
    def found(name):
        if other is None:
            raise TextEncoderError("The text encoder static needs the package wordllama")
        return other

    monkeypatch.setattr(_encoders, "_found", found)
    with pytest.raises(ModelFileError) as caught:
        load_model(saved)
    said = str(caught.value)
    wanted = ["was not loaded", "wordllama"] + ([] if other is None else ["counting 1.0", "ab" * 6, "label --save"])
    assert all(words in said for words in wanted), said


def test_an_encoder_that_changes_after_loading_is_refused_too(saved, table, monkeypatch):
    loaded = load_model(saved)
    monkeypatch.setattr(_encoders, "_found", lambda name: CountingEncoder("static", "ab" * 32))
    with pytest.raises(TextEncoderError, match="another one"):
        loaded.predict_table(table)


def test_another_version_with_the_same_weights_is_a_note(saved, monkeypatch):
    here = _encoders.find_encoder("static")
    changed = EncoderIdentity("static", "wordllama 0.4.9", here.identity.checksum)
    monkeypatch.setitem(vars(here), "identity", changed)
    (note,) = load_model(saved).warnings
    assert "wordllama 0.4.9" in note
    assert "with the same weights" in note


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("name", ["default-kernels", "format-2"])
def test_models_of_earlier_formats_compare_letters(name):
    loaded = load_model(MODELS / f"{name}.semikpca")
    assert loaded.roles.text_encoder == "ngrams"
    assert loaded.vectorizer.get_params()["text_encoder"] == "ngrams"
    assert loaded.vectorizer.encoder_ is None
    assert isinstance(loaded.vectorizer, TableToNumbers)


# -- vectors beside the table ---------------------------------------------------------------------------------------


def test_vectors_are_kept_beside_the_table_when_that_saves_time(table, saved, monkeypatch):
    folder = folder_beside(table.path)
    assert not folder.exists()
    monkeypatch.setattr(_text_reading, "SECONDS_WORTH_KEEPING", -1.0)
    first = label_table(table, ROLES)
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(type(_encoders.find_encoder("static")), "encode", lambda *_: pytest.fail("read again"))
    np.testing.assert_array_equal(label_table(table, ROLES).X, first.X)
    load_model(saved).predict_table(table)


def test_progress_says_that_texts_are_read(table, saved):
    steps = []
    label_table(table, ROLES, progress=lambda *step: steps.append(step))
    assert ("Reading texts", 72, 72) in steps
    steps.clear()
    load_model(saved).predict_table(table, progress=lambda *step: steps.append(step))
    assert ("Reading texts", 72, 72) in steps
