"""``semikpca predict``: a saved model on other rows, and files that are no models."""

import pickle

import pandas as pd
import pytest

from small_tables import make_plants

pytestmark = pytest.mark.slow  # whole commands

LABEL = ("label", "plants.csv", "-l", "kind", "--id-column", "plant", "--save", "plants.model")


def words(text):
    return " ".join(text.split())


@pytest.fixture
def saved(semikpca, plants, tmp_path):
    result = semikpca(*LABEL)
    assert result.exit_code == 0, result.output
    assert "Model: plants.model" in result.stdout
    return tmp_path / "plants.model"


def test_new_rows_are_labeled_beside_their_file(saved, semikpca, tmp_path):
    frame, names = make_plants(seed=9)
    frame = frame.drop(columns="kind")
    frame.to_csv(tmp_path / "new.csv", index=False)
    result = semikpca("predict", "plants.model", "new.csv")
    assert result.exit_code == 0, result.output
    assert "90 rows labeled" in words(result.stdout)
    assert "Labels: new.predicted.csv" in result.stdout
    found = pd.read_csv(tmp_path / "new.predicted.csv", dtype=str, keep_default_na=False)
    assert list(found.columns) == [*frame.columns, "predicted_label", "confidence"]
    pd.testing.assert_frame_equal(found[frame.columns], frame.astype(str), check_dtype=False)
    assert (found["predicted_label"].to_numpy() == names).mean() > 0.9


def test_the_rows_that_were_learned_from_get_the_same_labels(saved, semikpca, tmp_path):
    assert semikpca("predict", "plants.model", "plants.csv", "-o", "again.csv").exit_code == 0
    before = pd.read_csv(tmp_path / "plants.labeled.csv", dtype=str)
    after = pd.read_csv(tmp_path / "again.csv", dtype=str)
    assert after["predicted_label"].tolist() == before["predicted_label"].tolist()
    assert after["confidence"].astype(float).to_numpy() == pytest.approx(
        before["confidence"].astype(float).to_numpy(), abs=2e-4
    )  # four digits each


def test_missing_columns_are_named_and_nothing_is_written(saved, semikpca, tmp_path):
    make_plants()[0].drop(columns="leaves").to_csv(tmp_path / "new.csv", index=False)
    result = semikpca("predict", "plants.model", "new.csv")
    assert result.exit_code == 1
    assert "lacks the column 'leaves'" in words(result.stderr)
    assert not (tmp_path / "new.predicted.csv").exists()


def test_surplus_columns_are_named_and_new_categories_are_fine(saved, semikpca, tmp_path):
    frame, _ = make_plants()
    frame["smell"], frame["place"] = "sweet", "moon"
    frame[["smell", *frame.columns[:-1]]].to_csv(tmp_path / "new.csv", index=False)
    result = semikpca("predict", "plants.model", "new.csv")
    assert result.exit_code == 0
    assert "does not know these columns, which say nothing to it: smell" in words(result.stderr)


def test_the_model_and_the_table_are_never_written_over(saved, semikpca):
    before = saved.read_bytes()
    for target in ("plants.model", "plants.csv"):
        result = semikpca("predict", "plants.model", "plants.csv", "-o", target, "--force")
        assert result.exit_code == 1
        assert "never written over" in words(result.stderr)
    assert saved.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "checksum does not match"),
        (lambda content: content[:-100], "incomplete or was changed"),
        (lambda content: content.replace(b"format 4", b"format 9", 1), "pip install --upgrade semikpca"),
        (lambda content: pickle.dumps({"a": 1}), "looks like a pickle"),
        (lambda content: b"hello", "not a model of semikpca"),
        (lambda content: b"", "it is empty"),
    ],
)
def test_a_file_that_is_no_model_is_refused_and_nothing_is_written(change, message, saved, semikpca, tmp_path):
    (tmp_path / "bad.model").write_bytes(change(saved.read_bytes()))
    result = semikpca("predict", "bad.model", "plants.csv")
    assert result.exit_code == 1
    assert message in words(result.stderr)
    assert not (tmp_path / "plants.predicted.csv").exists()


def test_a_model_that_is_not_there_is_said(semikpca, plants):
    result = semikpca("predict", "nothing.model", "plants.csv")
    assert result.exit_code == 1
    assert "There is no file nothing.model" in words(result.stderr)


def test_a_model_of_embeddings_takes_embeddings(semikpca, tmp_path, rng):
    import numpy as np

    group = np.arange(60) % 2
    np.save(tmp_path / "rows.npy", 4.0 * group[:, np.newaxis] + rng.normal(size=(60, 5)))
    labels = [("a", "b")[number] if row < 12 else "" for row, number in enumerate(group)]
    pd.DataFrame({"topic": labels}).to_csv(tmp_path / "topics.csv", index=False)
    assert semikpca("label", "rows.npy", "--labels", "topics.csv", "-l", "topic", "--save", "m").exit_code == 0
    np.save(tmp_path / "new.npy", 4.0 * group[:, np.newaxis] + rng.normal(size=(60, 5)))
    result = semikpca("predict", "m", "new.npy")
    assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "new.predicted.csv")
    assert (found["predicted_label"] == np.array(["a", "b"])[group]).mean() > 0.9
