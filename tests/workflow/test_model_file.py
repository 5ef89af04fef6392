"""Models in files: the same answers after loading, and nothing loaded that is not what was saved."""

import hashlib
import io
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.preprocessing import FunctionTransformer

from outside_kernel import Matern
from semikpca.datasets import make_support_tickets
from semikpca.exceptions import ModelFileError, TableError
from semikpca.tables import ColumnRoles, Table, read_table
from semikpca.workflow import LabelingOptions, kernel_names, label_table, load_model, save_model

# Sums over rows in another order: a loaded graph finds its neighbors again, and products go in other blocks.
REORDERED_SUMS = 1e-5


@pytest.fixture(scope="module")
def saved(labeled_plants, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "plants.semikpca"
    save_model(path, labeled_plants)
    return path


def lines_of(content):
    """Return the first line, the seal, the plain data and the archive of a model file."""
    first, seal, facts, archive = content.split(b"\n", 3)
    return first, seal, json.loads(facts), archive


def forged(facts, archive, first=b"semikpca model, format 4"):
    """Return a file with a seal that is right."""
    body = json.dumps(facts).encode() + b"\n" + archive
    seal = f"sha256 {hashlib.sha256(body).hexdigest()} {len(body)}".encode()
    return b"\n".join([first, seal, body])


# -- the same answers ------------------------------------------------------------------------------------------


def new_rows(labeled, seed=1):
    """Return a table of rows that were drawn again, with cells of other rows."""
    generator = np.random.default_rng(seed)
    features = labeled.table.features
    columns = {name: features[name].iloc[generator.permutation(len(features))].tolist() for name in features.columns}
    frame = pd.DataFrame({name: pd.Series(values, dtype=features[name].dtype) for name, values in columns.items()})
    return Table(frame, frame, None, labeled.table.format)


def embeddings(tmp_path):
    generator = np.random.default_rng(3)
    group = np.arange(80) % 2
    np.save(tmp_path / "rows.npy", 3.0 * group[:, np.newaxis] + generator.normal(size=(80, 12)))
    labels = pd.DataFrame({"topic": np.where(np.arange(80) < 20, np.array(["war", "peace"])[group], "")})
    labels.to_csv(tmp_path / "labels.csv", index=False)
    return read_table(tmp_path / "rows.npy", labels=tmp_path / "labels.csv"), ColumnRoles("topic")


def tickets(tmp_path):
    make_support_tickets(80, 20).to_csv(tmp_path / "tickets.csv", index=False)
    return read_table(tmp_path / "tickets.csv"), ColumnRoles("category", id="ticket_id", text=("message",))


@pytest.mark.slow  # whole tables are labeled
@pytest.mark.parametrize(
    ("make", "kernel"),
    [(tickets, None), (tickets, "graph")] + [(embeddings, kernel) for kernel in (None, *kernel_names(installed=False))],
)
def test_a_loaded_model_answers_as_the_saved_one(make, kernel, tmp_path):
    table, roles = make(tmp_path)
    labeled = label_table(table, roles, LabelingOptions(kernel=kernel))
    save_model(tmp_path / "model", labeled)
    loaded = load_model(tmp_path / "model")
    assert loaded.roles == roles
    assert loaded.warnings == ()
    rows = new_rows(labeled)
    X = np.asarray(labeled.vectorizer.transform(rows.features[list(loaded.feature_names)]), dtype=np.float32)
    frame = loaded.predict_table(rows)
    assert frame["predicted_label"].tolist() == labeled.model.predict(X).tolist()
    chances = labeled.model.predict_proba(X).max(axis=1)
    assert frame["confidence"].to_numpy() == pytest.approx(chances, abs=REORDERED_SUMS + 5e-5)  # four digits
    pd.testing.assert_frame_equal(frame[rows.frame.columns], rows.frame)


def test_a_kernel_of_others_is_among_those_that_were_saved_and_loaded():
    assert Matern.shorthand in kernel_names(installed=False)


def test_training_rows_get_the_labels_that_they_had(saved, labeled_plants, plants):
    frame = load_model(saved).predict_table(read_table(plants[0]))
    assert frame["predicted_label"].tolist() == labeled_plants.predicted.tolist()
    assert list(frame.columns[-2:]) == ["predicted_label", "confidence"]


def test_a_model_file_says_what_it_is_in_plain_lines(saved):
    first, seal, facts, _ = lines_of(saved.read_bytes())
    assert first == b"semikpca model, format 4"
    assert seal.startswith(b"sha256 ")
    assert facts["features"] == ["height", "leaves", "place"]
    assert facts["roles"] == {
        "label": "kind",
        "id": "plant",
        "text": [],
        "exclude": [],
        "labels_as_typed": False,
        "text_encoder": "auto",
        "keep": [],
        "category": [],
        "labels_as": "auto",
    }
    assert {"semikpca", "scikit-learn", "skrub", "skops"} <= set(facts["versions"])


def test_new_categories_and_the_order_of_columns_do_not_matter(saved):
    frame = pd.DataFrame({"place": ["bog", "moon"], "leaves": ["4", "22"], "height": ["10", ""]})
    model = load_model(saved)
    found = model.predict_table(Table(frame, frame.replace("", None), None, "csv"))
    assert found["predicted_label"].iloc[0] == "fern"
    assert found["predicted_label"].isin(["fern", "moss", "palm"]).all()


def test_missing_columns_are_named(saved):
    frame = pd.DataFrame({"place": ["bog"], "leafs": ["4"]})
    with pytest.raises(TableError, match=r"lacks the columns 'height', 'leaves'.*It has the columns 'place', 'leafs'"):
        load_model(saved).predict_table(Table(frame, frame, None, "csv"))


def test_surplus_columns_are_found(saved):
    frame = pd.DataFrame({name: ["1"] for name in ("plant", "place", "leaves", "height", "kind", "smell")})
    assert load_model(saved).surplus_columns(Table(frame, frame, None, "csv")) == ["smell"]


def test_other_versions_are_said(saved, tmp_path):
    _, _, facts, archive = lines_of(saved.read_bytes())
    facts["versions"]["scikit-learn"] = "0.1"
    (tmp_path / "old").write_bytes(forged(facts, archive))
    assert "scikit-learn 0.1" in load_model(tmp_path / "old").warnings[0]


# -- whole or nothing ------------------------------------------------------------------------------------------


def test_a_model_that_cannot_be_saved_leaves_the_old_file(saved, labeled_plants, tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(saved.read_bytes())

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        save_model(path, labeled_plants)
    assert path.read_bytes() == saved.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


# -- what is refused -------------------------------------------------------------------------------------------


def test_every_flipped_byte_is_found(saved, tmp_path):
    content = saved.read_bytes()
    path = tmp_path / "flipped"
    for place in np.linspace(0, len(content) - 1, 60).astype(int):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(ModelFileError):
            load_model(path)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.99])
def test_a_file_that_is_cut_off_is_refused(share, saved, tmp_path):
    content = saved.read_bytes()
    (tmp_path / "cut").write_bytes(content[: int(share * len(content))])
    with pytest.raises(ModelFileError, match=r"incomplete|not a model|damaged"):
        load_model(tmp_path / "cut")


def test_a_pickle_is_refused_by_name_and_not_opened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was opened",))

    for protocol in range(2, 6):
        (tmp_path / "pickle").write_bytes(pickle.dumps(Bomb(), protocol=protocol))
        with pytest.raises(ModelFileError, match="looks like a pickle"):
            load_model(tmp_path / "pickle")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"a,b\n1,2\n", "not a model of semikpca"),
        (b"PK\x03\x04 something", "zip archive"),
        (b"semikpca model, format x\n", "damaged"),
        (b"semikpca model, format 0\n", "damaged"),
        (b"semikpca model, format 4\n", "damaged"),
        (b"semikpca model, format 4\nsha256 0 zero\n", "damaged"),
        (b"semikpca model, format 4\nsha256 0 -5\n{}\n", "incomplete or was changed"),
    ],
)
def test_foreign_files_are_refused(content, message, tmp_path):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        load_model(tmp_path / "file")


def test_a_later_format_is_refused_with_how_to_upgrade(saved, tmp_path):
    _, _, facts, archive = lines_of(saved.read_bytes())
    (tmp_path / "later").write_bytes(forged(facts, archive, b"semikpca model, format 5"))
    with pytest.raises(ModelFileError, match=r"format 5.*up to 4.*pip install --upgrade semikpca"):
        load_model(tmp_path / "later")


def test_files_that_are_not_there_are_said(tmp_path):
    with pytest.raises(ModelFileError, match="There is no file"):
        load_model(tmp_path / "nothing")
    with pytest.raises(ModelFileError, match="is a folder"):
        load_model(tmp_path)


def archive_of(**objects):
    return skops.io.dumps(objects)


@pytest.mark.parametrize(
    ("harm", "named"),
    [
        (FunctionTransformer(func=eval), "eval"),
        (FunctionTransformer(func=np.fromfile), "fromfile"),
        (pd.Timestamp, "Timestamp"),
    ],
    ids=["builtin", "function", "type"],
)
def test_types_that_are_not_on_the_list_are_refused_whatever_the_seal(harm, named, saved, tmp_path):
    facts = lines_of(saved.read_bytes())[2]
    (tmp_path / "forged").write_bytes(forged(facts, archive_of(vectorizer=harm, model=1)))
    with pytest.raises(ModelFileError, match=f"{named}.*which no model holds"):
        load_model(tmp_path / "forged")


def test_a_file_without_a_classifier_is_refused(saved, tmp_path):
    facts = lines_of(saved.read_bytes())[2]
    for archive in (archive_of(vectorizer=1, model=2), skops.io.dumps([1, 2])):
        (tmp_path / "forged").write_bytes(forged(facts, archive))
        with pytest.raises(ModelFileError, match="holds no classifier"):
            load_model(tmp_path / "forged")


def test_a_zip_bomb_is_refused_before_it_unfolds(saved, tmp_path):
    facts = lines_of(saved.read_bytes())[2]
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("schema.json", bytes(80 * 2**20))
    (tmp_path / "bomb").write_bytes(forged(facts, archive.getvalue()))
    with pytest.raises(ModelFileError, match=r"would unfold from .* to 83,886,080 bytes"):
        load_model(tmp_path / "bomb")


def test_an_array_that_claims_to_be_huge_is_refused(saved, labeled_plants, tmp_path):
    facts, archive = lines_of(saved.read_bytes())[2:]
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as before, zipfile.ZipFile(changed, "w") as after:
        for entry in before.infolist():
            content = before.read(entry)
            if entry.filename.endswith(".npy"):
                header = io.BytesIO()
                np.lib.format.write_array_header_1_0(
                    header, {"descr": "<f8", "fortran_order": False, "shape": (2**50,)}
                )
                content = header.getvalue()
            after.writestr(entry.filename, content)
    (tmp_path / "huge").write_bytes(forged(facts, changed.getvalue()))
    with pytest.raises(ModelFileError, match="cannot be loaded"):
        load_model(tmp_path / "huge")


@pytest.mark.parametrize("facts", [[], {}, {"roles": {}, "features": [], "versions": {}}, "[" * 100_000])
def test_plain_data_that_is_none_is_refused(facts, saved, tmp_path):
    archive = lines_of(saved.read_bytes())[3]
    content = forged(facts, archive)
    if isinstance(facts, str):
        body = facts.encode() + b"\n" + archive
        content = f"semikpca model, format 4\nsha256 {hashlib.sha256(body).hexdigest()} {len(body)}\n".encode() + body
    (tmp_path / "forged").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"third line|cannot be loaded"):
        load_model(tmp_path / "forged")
