"""Vectors of many texts: each once, in chunks, kept where that saves time, and going on after a stop."""

import os

import numpy as np
import pytest

from semikpca.tables import TextReader, _text_reading, find_encoder, folder_beside
from text_encoders import WIDTH, CountingEncoder

TEXTS = [f"text number {number}" for number in range(10)]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(_text_reading, "MOST_TEXTS", 3)


@pytest.fixture
def kept_at_once(monkeypatch):
    monkeypatch.setattr(_text_reading, "SECONDS_WORTH_KEEPING", -1.0)


@pytest.fixture
def folder(tmp_path):
    return folder_beside(tmp_path / "table.csv")


def test_chunks_give_what_the_encoder_gives_at_once():
    encoder = CountingEncoder()
    found = TextReader().read(encoder, TEXTS)
    np.testing.assert_array_equal(found, CountingEncoder().encode(TEXTS))
    assert encoder.asked == TEXTS


def test_static_gives_the_same_bits_in_chunks_of_any_size(monkeypatch):
    texts = [*TEXTS, "", "Ünïcödé 😀", "a longer text with many words " * 50]
    encoder = find_encoder("static")
    found = TextReader().read(encoder, texts)
    monkeypatch.setattr(_text_reading, "MOST_TEXTS", 1_000)
    np.testing.assert_array_equal(TextReader().read(encoder, texts), found)


def test_chunks_are_small_where_texts_are_long(monkeypatch):
    monkeypatch.setattr(_text_reading, "MOST_TEXTS", 100)
    monkeypatch.setattr(_text_reading, "MOST_LETTERS", 50)
    sizes = []
    encoder = CountingEncoder()
    monkeypatch.setattr(
        encoder, "encode", lambda texts: sizes.append(len(texts)) or np.zeros((len(texts), 2), np.float32)
    )
    TextReader().read(encoder, ["x" * 30, "y" * 30, "z" * 10, "w" * 10, "v" * 500])
    assert sizes == [1, 3, 1]


def test_texts_are_made_plain_first_and_blank_ones_are_zero():
    encoder = CountingEncoder()
    found = TextReader().read(encoder, ["<b>word</b>", "", "  ", "<p></p>", "word"])
    assert encoder.asked == ["word", "word"]
    np.testing.assert_array_equal(found[1:4], 0.0)
    np.testing.assert_array_equal(found[0], found[4])
    assert np.isfinite(found).all()


def test_a_chunk_of_blank_texts_is_no_error():
    found = TextReader().read(CountingEncoder(), ["", " ", "\n", "word"])
    assert found.shape == (4, WIDTH)
    np.testing.assert_array_equal(found[:3], 0.0)
    assert TextReader().read(CountingEncoder(), ["", ""]).shape == (2, 0)


def test_progress_says_how_many_texts_are_done():
    told = []
    TextReader(progress=lambda *step: told.append(step)).read(CountingEncoder(), TEXTS)
    assert told == [("Reading texts", done, 10) for done in (0, 3, 6, 9, 10)]


def test_a_reader_reads_a_chunk_once():
    encoder, reader = CountingEncoder(), TextReader()
    first = reader.read(encoder, TEXTS)
    np.testing.assert_array_equal(reader.read(encoder, TEXTS), first)
    assert encoder.asked == TEXTS


# -- the folder ---------------------------------------------------------------------------------------------------


def test_small_tables_leave_nothing_behind(folder):
    TextReader(folder).read(CountingEncoder(), TEXTS)
    assert not folder.exists()


def test_what_took_long_is_read_from_the_folder(folder, kept_at_once):
    first = TextReader(folder).read(CountingEncoder(), TEXTS)
    assert len(list(folder.iterdir())) == 4
    again = CountingEncoder()
    np.testing.assert_array_equal(TextReader(folder).read(again, TEXTS), first)
    assert again.asked == []


def test_the_folder_is_hidden_beside_the_file(tmp_path):
    assert folder_beside(tmp_path / "table.csv") == tmp_path / ".table.csv.semikpca-texts"


def test_writing_begins_once_it_has_taken_long_and_then_takes_all(folder, monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(_text_reading.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(_text_reading, "SECONDS_WORTH_KEEPING", 2.5)  # a chunk takes one second by this clock
    counts = []
    reader = TextReader(folder, lambda *_: counts.append(len(list(folder.iterdir())) if folder.exists() else 0))
    reader.read(CountingEncoder(), TEXTS)
    assert counts == [0, 0, 0, 3, 4]


@pytest.mark.parametrize("n_done", [0, 1, 3])
def test_a_run_that_was_stopped_goes_on_where_it_was(folder, kept_at_once, n_done):
    def stop(_, done, __):
        if done >= 3 * n_done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TextReader(folder, stop).read(CountingEncoder(), TEXTS)
    encoder = CountingEncoder()
    found = TextReader(folder).read(encoder, TEXTS)
    assert encoder.asked == TEXTS[3 * n_done :]
    np.testing.assert_array_equal(found, CountingEncoder().encode(TEXTS))


@pytest.mark.parametrize("other", [{"checksum": "1" * 64}, {"texts": [*TEXTS[:-1], "another text"]}])
def test_other_texts_and_other_encoders_are_read_anew(folder, kept_at_once, other):
    TextReader(folder).read(CountingEncoder(), TEXTS)
    texts = other.get("texts", TEXTS)
    encoder = CountingEncoder(checksum=other.get("checksum", "0" * 64))
    TextReader(folder).read(encoder, texts)
    assert encoder.asked == (texts if "checksum" in other else texts[-1:])


def test_texts_are_not_mixed_up_where_they_meet(folder, kept_at_once):
    one = TextReader(folder).read(CountingEncoder(), ["ab", "c"])
    other = TextReader(folder).read(CountingEncoder(), ["a", "bc"])
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "other shape", "not finite", "pickled", "folder"])
def test_a_damaged_chunk_is_computed_again(folder, kept_at_once, damage):
    first = TextReader(folder).read(CountingEncoder(), TEXTS)
    path = sorted(folder.iterdir())[1]
    content = bytearray(path.read_bytes())
    if damage == "flipped":
        content[content.index(b"NUMPY") + 150] ^= 1
    if damage == "folder":
        path.unlink()
        path.mkdir()
    elif damage in ("empty", "cut", "flipped"):
        path.write_bytes({"empty": b"", "cut": content[:100], "flipped": content}[damage])
    else:
        vectors = {
            "other shape": np.zeros((7, WIDTH), np.float32),
            "not finite": np.full((3, WIDTH), np.nan, np.float32),
            "pickled": np.array([{}, {}, {}], dtype=object),
        }[damage]
        np.savez(path, vectors=vectors)
    encoder = CountingEncoder()
    np.testing.assert_array_equal(TextReader(folder).read(encoder, TEXTS), first)
    assert 1 <= len(encoder.asked) <= (10 if damage == "folder" else 3)  # what cannot be written ends the keeping


def test_a_folder_that_cannot_be_written_is_no_error(folder, kept_at_once):
    folder.write_text("a file in its place")
    np.testing.assert_array_equal(TextReader(folder).read(CountingEncoder(), TEXTS), CountingEncoder().encode(TEXTS))
    assert folder.read_text() == "a file in its place"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only_is_no_error(folder, kept_at_once):
    folder.parent.chmod(0o500)
    try:
        TextReader(folder).read(CountingEncoder(), TEXTS)
    finally:
        folder.parent.chmod(0o700)
    assert not folder.exists()


def test_a_full_disk_is_no_error(folder, kept_at_once, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_text_reading, "write_whole", full)
    np.testing.assert_array_equal(TextReader(folder).read(CountingEncoder(), TEXTS), CountingEncoder().encode(TEXTS))


def test_chunks_of_texts_that_are_gone_are_taken_away_and_nothing_else(folder, kept_at_once):
    TextReader(folder).read(CountingEncoder(), TEXTS)
    (folder / "notes.txt").write_text("mine")
    reader = TextReader(folder)
    reader.read(CountingEncoder(), TEXTS[:3])
    reader.forget_others()
    assert len(list(folder.glob("*.npz"))) == 1
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_reader_that_read_nothing_takes_nothing_away(folder, kept_at_once):
    TextReader(folder).read(CountingEncoder(), TEXTS)
    TextReader(folder).forget_others()
    assert len(list(folder.iterdir())) == 4
