"""What makes vectors of texts: against a naive mean, by name and folder, known again by checksum, never downloaded."""

import hashlib
import logging
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from semikpca.exceptions import TextEncoderError
from semikpca.tables import EncoderIdentity, _encoders, _static_encoder, find_encoder, plain_text
from semikpca.tables._encoders import encoder_like, unit_rows
from text_encoders import install_library, write_model

PACKAGE = Path(find_spec("wordllama").submodule_search_locations[0])
WEIGHTS = PACKAGE / "weights" / "l2_supercat_256.safetensors"
TOKENIZER = PACKAGE / "tokenizers" / "l2_supercat_tokenizer_config.json"
TEXTS = [
    "Where is my parcel?",
    "The invoice is wrong, please send another one.",
    "Ünïcödé wörds, und größere Übel: 1,234.56 €",
    "请求退款 😀👍🏽",
    "a",
    "a a a a b",
    "C:\\Users\\x --flag=1 <tag> [x](y) \"quoted\" 'it''s'",
]
# Sums of some tens of float32 numbers in another order.
REORDERED = 2e-6


@pytest.fixture(autouse=True)
def fresh():
    """Encoders are found once in a process."""
    _encoders._found.cache_clear()
    yield
    _encoders._found.cache_clear()


@pytest.fixture
def static():
    return find_encoder("static")


def naive_mean(texts):
    """The mean of the vectors of all tokens of a whole text, brought to length 1; shares no code with the package."""
    table = load_file(WEIGHTS)["embedding.weight"].astype(np.float64)
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    means = [table[tokenizer.encode(text, add_special_tokens=False).ids].mean(axis=0) for text in texts]
    return np.array([mean / np.linalg.norm(mean) for mean in means])


# -- static ------------------------------------------------------------------------------------------------------


def test_static_is_the_mean_of_the_vectors_of_all_tokens(static):
    found = static.encode(TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, naive_mean(TEXTS), atol=REORDERED)


def test_static_gives_each_text_the_same_bits_whichever_others_are_there(static):
    together = static.encode(TEXTS)
    for place, text in enumerate(TEXTS):
        np.testing.assert_array_equal(static.encode([text])[0], together[place])
    np.testing.assert_array_equal(static.encode(TEXTS[::-1])[::-1], together)


def test_texts_of_like_meaning_are_near_without_a_word_in_common(static):
    parcel, package, money = static.encode(
        ["where is my parcel", "your package was never delivered", "interest rates of banks went up"]
    )
    assert parcel @ package > parcel @ money + 0.1


def test_a_text_without_tokens_has_the_vector_zero(static):
    np.testing.assert_array_equal(static.encode(["", "word"])[0], 0.0)
    np.testing.assert_array_equal(unit_rows([[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0], [3.0, 4.0]])[:3], 0.0)


def test_static_is_known_by_name_version_and_the_checksum_of_its_files(static):
    content = WEIGHTS.read_bytes() + TOKENIZER.read_bytes()
    assert static.identity.name == "static"
    assert static.identity.version.startswith("wordllama 0.4")
    assert static.identity.checksum == hashlib.sha256(content).hexdigest()


@pytest.mark.slow  # a process is started
def test_static_loads_neither_wordllama_nor_a_network_nor_changes_logging():
    script = """
import socket, sys, logging
def refuse(*_, **__): raise OSError("no network")
socket.socket.connect = socket.getaddrinfo = refuse
from semikpca.tables import find_encoder
find_encoder("auto").encode(["some words"])
assert find_encoder("auto").identity.name == "static"
assert "wordllama" not in sys.modules and not logging.getLogger().handlers
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.slow  # a process is started
def test_the_packages_are_loaded_with_the_first_text_only():
    script = "import sys, semikpca.tables; assert not {'tokenizers', 'safetensors', 'wordllama'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("The parcel that I ordered on Monday has not arrived, and nobody answers my letters.", "much"),
        ("RT @jane: http://t.co/xYz12 is it true that #vote2016 was on the 8th? @bob is at 10pm", "much"),
        ("Red cotton shirt, long sleeves, machine washable", "much"),
        ("Die Rechnung war falsch, bitte schickt mir eine neue mit der richtigen Anschrift.", "little"),
        ("La facture est fausse, envoyez-moi une nouvelle avec le bon montant.", "little"),
        ("El barco a la isla zarpa al mediodía.", "little"),
        ("Če bi prej menjali trenerja, pa bi bila situacija še boljša, ker je na klopi.", "little"),
        ("A. Lincoln, 12 GB, 3.5 mm", "much"),
        ("Паром на остров отходит в полдень, а билеты продают на причале.", "little"),
        ("Η πτήση μας καθυστέρησε δύο ώρες και η βαλίτσα δεν ήρθε ποτέ.", "nothing"),
        ("发票有误,请重新寄一份给我,并使用正确的地址。", "little"),
        ("ჩვენი ფრენა ორი საათით დაიგვიანა", "nothing"),
        ("Մեր թռիչքը երկու ժամ ուշացավ", "nothing"),
        ("우리 비행기는 두 시간 늦게 떠났다", "nothing"),
    ],
)
def test_what_static_knows_of_a_language_is_told(static, text, known):
    assert static.knowledge([plain_text(text)]) == known


def test_what_is_known_of_no_text_is_no_error(static):
    assert static.knowledge([]) == static.knowledge([""]) == "nothing"


# -- what is missing ---------------------------------------------------------------------------------------------


def without(monkeypatch, package):
    """Take a package away."""
    monkeypatch.setattr(_static_encoder, "find_spec", lambda name: None if name == package else find_spec(name))


@pytest.mark.parametrize("package", ["wordllama", "tokenizers", "safetensors"])
def test_a_missing_package_is_named_with_the_remedy_and_auto_compares_letters(monkeypatch, package):
    without(monkeypatch, package)
    with pytest.raises(TextEncoderError, match=rf"needs the package {package}: pip install 'semikpca\[label\]'"):
        find_encoder("static")
    assert find_encoder("auto") is None


def test_weights_that_are_not_in_the_package_are_named(monkeypatch):
    monkeypatch.setattr(_static_encoder, "WEIGHTS", "weights/other.safetensors")
    with pytest.raises(TextEncoderError, match=r"wordllama 0\.4\S* has no file other.safetensors"):
        find_encoder("static")
    assert find_encoder("auto") is None


def test_letters_need_no_encoder():
    assert find_encoder("ngrams") is None


@pytest.mark.parametrize("name", ["statc", "Static", "n-grams", "ngram"])
def test_a_name_that_is_nearly_one_is_told(name):
    with pytest.raises(TextEncoderError, match=f"no text encoder '{name}'. Did you mean (static|ngrams)"):
        find_encoder(name)


# -- models by name and folder -----------------------------------------------------------------------------------


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    """Refuse every connection, and have an empty cache of models."""

    def refused(*_, **__):
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("minishlab/potion-base-8M", "minishlab/potion-base-8M"),
        ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM"),
    ],
)
def test_a_model_that_was_not_fetched_is_not_fetched_now(no_network, name, full):
    with pytest.raises(
        TextEncoderError, match=rf"Nothing is downloaded unasked.*https://huggingface.co/{full}.*hf down"
    ):
        find_encoder(name)


@pytest.mark.parametrize("name", ["./nothing", "/no/such/folder", "a/b/c", "no name"])
def test_a_folder_that_is_not_there_is_told(no_network, name):
    with pytest.raises(TextEncoderError, match="no folder"):
        find_encoder(name)


@pytest.mark.parametrize("library", ["model2vec", "sentence-transformers"])
def test_a_model_in_a_folder_is_loaded_by_its_library(no_network, monkeypatch, tmp_path, library):
    asked = install_library(monkeypatch, library)
    folder = write_model(tmp_path / "model", library, "embeddings" if library == "model2vec" else "weight")
    encoder = find_encoder(str(folder))
    assert encoder.identity.name == str(folder)
    assert encoder.identity.version == f"{library} 9.9"
    assert asked == []  # who it is can be told without loading it
    found = encoder.encode(["abc", "abcd"])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(found[0], np.array([3.0, 1.0, 0.0]) / np.sqrt(10), rtol=1e-6)
    (place, options), (texts, _) = asked
    assert place == str(folder)
    assert texts == ["abc", "abcd"]
    if library == "sentence-transformers":
        assert options == {"local_files_only": True, "model_kwargs": {"use_safetensors": True}}
    assert encoder.knowledge(["Η πτήση"]) == "much"  # nothing is known of what others know


def test_a_model_that_was_fetched_before_is_found_by_name(no_network, monkeypatch):
    install_library(monkeypatch, "model2vec")
    snapshot = no_network / "models--owner--small" / "snapshots" / "0123"
    write_model(snapshot)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("0123")
    encoder = find_encoder("owner/small")
    assert encoder.identity.name == "owner/small"
    assert encoder.encode(["abc"]).shape == (1, 3)


def test_the_package_that_a_model_needs_is_named(no_network, monkeypatch, tmp_path):
    monkeypatch.setattr("semikpca.tables._library_encoders.find_spec", lambda name: None)
    folder = write_model(tmp_path / "model")
    with pytest.raises(TextEncoderError, match="needs the package model2vec: pip install model2vec"):
        find_encoder(str(folder))


@pytest.mark.parametrize("kind", ["empty", "pickled", "damaged", "neither"])
def test_a_folder_without_weights_that_are_safe_is_refused(no_network, tmp_path, kind):
    folder = tmp_path / "model"
    if kind in ("empty", "pickled"):
        folder.mkdir()
        if kind == "pickled":
            (folder / "modules.json").write_text("[]")
            (folder / "pytorch_model.bin").write_bytes(b"\x80\x04")
    else:
        write_model(folder, tensor="other")
        if kind == "damaged":
            (folder / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(TextEncoderError, match="holds no model of model2vec or sentence-transformers"):
        find_encoder(str(folder))


# -- known again -------------------------------------------------------------------------------------------------


def test_an_encoder_is_found_again_by_its_identity(static):
    assert encoder_like(static.identity) is static
    # Another version with the same files is the same encoder.
    assert encoder_like(EncoderIdentity("static", "wordllama 7", static.identity.checksum)) is static


@pytest.mark.parametrize("change", [{"checksum": "ab" * 32}, {"cleaning": 0}])
def test_another_encoder_of_the_same_name_is_refused_naming_both(static, change):
    stored = EncoderIdentity(**{**vars(static.identity), "version": "wordllama 0.1", **change})
    with pytest.raises(TextEncoderError) as caught:
        encoder_like(stored)
    for words in (str(stored), str(static.identity), "wordllama 0.1", "semikpca label --save"):
        assert words in str(caught.value)


def test_other_files_are_another_encoder(no_network, monkeypatch, tmp_path):
    install_library(monkeypatch, "model2vec")
    folder = write_model(tmp_path / "model")
    before = find_encoder(str(folder)).identity
    (folder / "tokenizer.json").write_text("{ }")
    _encoders._found.cache_clear()
    with pytest.raises(TextEncoderError, match="another one"):
        encoder_like(before)


def test_nothing_is_logged_or_set_up(static, caplog):
    with caplog.at_level(logging.DEBUG):
        static.encode(["word"])
    assert caplog.records == []
