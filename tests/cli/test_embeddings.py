"""Vectors on the command line: in an array, in a column of lists, and in a file beside a table."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_digits

from commands import rows_of

pytestmark = pytest.mark.slow  # whole commands

N_ROWS, LENGTH = 60, 5
GROUP = np.arange(N_ROWS) % 2
PATIENCE = 60  # seconds, for a table that is opened while the page answers
TOPICS = np.array(["a", "b"])[GROUP]
GIVEN = [topic if row < 12 else "" for row, topic in enumerate(TOPICS)]
IDS = [f"r{row:02d}" for row in range(N_ROWS)]
N_DIGITS = 600


def words(text):
    return " ".join(text.split())


def right(found):
    return np.mean([row["predicted_label"] == topic for row, topic in zip(found, TOPICS, strict=True)])


@pytest.fixture
def vectors(tmp_path, rng):
    """Two groups of rows in ``rows.npy``, their topics in ``topics.csv``, and a table without either in ``t.csv``."""
    X = 4.0 * GROUP[:, np.newaxis] + rng.normal(size=(N_ROWS, LENGTH))
    np.save(tmp_path / "rows.npy", X)
    pd.DataFrame({"topic": GIVEN}).to_csv(tmp_path / "topics.csv", index=False)
    noise = rng.normal(size=N_ROWS).round(3)
    pd.DataFrame({"id": IDS, "topic": GIVEN, "noise": noise}).to_csv(tmp_path / "t.csv", index=False)
    turned = rng.permutation(N_ROWS)
    np.savez(tmp_path / "rows.npz", X=X[turned], names=np.array(IDS)[turned])
    return X


# -- arrays ----------------------------------------------------------------------------------------------------


def test_the_output_of_an_array_has_the_labels_and_not_its_numbers(semikpca, vectors, tmp_path):
    result = semikpca("label", "rows.npy", "--labels", "topics.csv", "-l", "topic", "--save", "m")
    assert result.exit_code == 0, result.output
    assert f"Learned from 1 column, made into {LENGTH} numbers a row (vectors: embedding ({LENGTH} numbers))" in words(
        result.stdout
    )
    found = rows_of(tmp_path / "rows.labeled.csv")
    added = ["predicted_label", "confidence", "label_was_given", "looks_wrong"]
    assert list(found[0]) == ["row", "topic", *added]
    assert [row["row"] for row in found] == [str(row + 1) for row in range(N_ROWS)]
    assert right(found) > 0.9
    assert semikpca("predict", "m", "rows.npy").exit_code == 0
    assert list(rows_of(tmp_path / "rows.predicted.csv")[0]) == ["row", "predicted_label", "confidence"]


def test_an_array_without_labels_is_told_of_the_option(semikpca, vectors):
    result = semikpca("label", "rows.npy", "-l", "topic")
    assert result.exit_code == 1
    assert "rows.npy has no column 'topic'" in words(result.stderr)
    assert "with --labels FILE" in words(result.stderr)


@pytest.mark.parametrize("option", ["--label-column", "--id-column", "--text-column"])
def test_an_array_is_no_column_of_labels_ids_or_text(option, semikpca, vectors):
    given = ["-l", "embedding"] if option == "--label-column" else ["-l", "topic", option, "embedding"]
    result = semikpca("label", "rows.npy", "--labels", "topics.csv", *given)
    assert result.exit_code == 1
    assert f"{option}: 'embedding' are the numbers of an array" in words(result.stderr)


def test_labels_of_an_array_are_to_be_written_where_they_are(semikpca, vectors, tmp_path):
    said = semikpca("suggest", "rows.npy", "--labels", "topics.csv", "-l", "topic", "-n", 2, "-o", "next.csv")
    assert "into the column topic of topics.csv, and run semikpca label again" in words(said.stdout)
    assert list(rows_of(tmp_path / "next.csv")[0]) == ["row", "topic", "predicted_label", "confidence"]
    np.savez(tmp_path / "both.npz", X=vectors, topic=np.where(np.arange(N_ROWS) < 12, GROUP, -1))
    said = semikpca("suggest", "both.npz", "-l", "topic", "-n", 2)
    assert "into the array topic of both.npz, and run semikpca label again" in words(said.stdout)


def test_a_file_of_labels_without_any_is_named(semikpca, vectors, tmp_path):
    pd.DataFrame({"topic": [""] * N_ROWS, "n": range(N_ROWS)}).to_csv(tmp_path / "none.csv", index=False)
    result = semikpca("label", "rows.npy", "--labels", "none.csv", "-l", "topic")
    assert "There is no label in the column 'topic' of none.csv" in words(result.stderr)


def test_a_model_with_a_column_for_each_number_still_takes_the_array(semikpca, vectors, tmp_path):
    names = [f"embedding_{place}" for place in range(LENGTH)]
    pd.DataFrame(vectors, columns=names).assign(topic=GIVEN).to_parquet(tmp_path / "wide.parquet")
    assert semikpca("label", "wide.parquet", "-l", "topic", "--save", "m").exit_code == 0
    result = semikpca("predict", "m", "rows.npy")
    assert result.exit_code == 0, result.output
    assert right(rows_of(tmp_path / "rows.predicted.csv")) > 0.9


# -- columns of lists ------------------------------------------------------------------------------------------


def test_digits_in_a_column_of_lists_are_labeled_as_those_in_a_column_for_each_pixel(semikpca, tmp_path):
    pixels, digits = (array[:N_DIGITS] for array in load_digits(return_X_y=True))
    given = pd.Series(digits).groupby(digits).cumcount() < 5
    label = pa.array([f"d{digit}" if is_given else None for digit, is_given in zip(digits, given, strict=True)])
    pq.write_table(pa.table({"label": label, "pixels": list(pixels)}), tmp_path / "lists.parquet")
    wide = {f"p{place}": pixels[:, place] for place in range(pixels.shape[1])}
    pq.write_table(pa.table({"label": label, **wide}), tmp_path / "wide.parquet")
    shares, answers = [], []
    for name in ("lists", "wide"):
        assert semikpca("label", f"{name}.parquet", "-l", "label").exit_code == 0
        found = pd.read_parquet(tmp_path / f"{name}.labeled.parquet")
        answers.append(found["predicted_label"])
        shares.append((found["predicted_label"] == [f"d{digit}" for digit in digits])[~given].mean())
    assert min(shares) > 0.85
    assert (answers[0] == answers[1]).mean() > 0.85  # they differ in scale: of each pixel, or of all
    before, after = (pq.read_table(tmp_path / f"lists{end}.parquet")["pixels"] for end in ("", ".labeled"))
    assert after.equals(before)


def test_rows_are_shown_without_their_vectors(semikpca, vectors, tmp_path):
    titles = [f"a title of several words {row}" for row in range(N_ROWS)]
    columns = {"topic": GIVEN, "vector": list(vectors), "title": titles}
    pq.write_table(pa.table(columns), tmp_path / "v.parquet")
    said = semikpca("suggest", "v.parquet", "-l", "topic", "-n", 2)
    assert said.exit_code == 0, said.output
    assert "a title of several words" in said.stdout
    assert "[" not in said.stdout
    assert semikpca("audit", "v.parquet", "-l", "topic").exit_code == 0
    assert semikpca("label", "v.parquet", "-l", "topic", "--report", "r.html").exit_code == 0


# -- embeddings beside a table ---------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["rows.npy", "rows.npz"])
def test_embeddings_beside_a_table_are_learned_from_and_not_written(file, semikpca, vectors, tmp_path):
    about = ["t.csv", "-l", "topic", "--id-column", "id", "--embeddings", file]
    result = semikpca("label", *about, "--save", "m")
    assert result.exit_code == 0, result.output
    assert f"numbers: noise; vectors: embedding ({LENGTH} numbers)" in words(result.stdout)
    assert f"semikpca suggest t.csv --label-column topic --id-column id --embeddings {file}" in words(result.stdout)
    found = rows_of(tmp_path / "t.labeled.csv")
    assert list(found[0])[:4] == ["id", "topic", "noise", "predicted_label"]
    assert right(found) > 0.9
    for command in ("suggest", "audit"):
        result = semikpca(command, *about)
        assert result.exit_code == 0, result.output
    result = semikpca("predict", "m", "t.csv", "--embeddings", file)
    assert result.exit_code == 0, result.output
    assert right(rows_of(tmp_path / "t.predicted.csv")) > 0.9


def test_a_model_that_needs_embeddings_says_so(semikpca, vectors):
    assert semikpca("label", "t.csv", "-l", "topic", "--embeddings", "rows.npy", "--save", "m").exit_code == 0
    result = semikpca("predict", "m", "t.csv")
    assert result.exit_code == 1
    assert "lacks the column 'embedding'" in words(result.stderr)
    assert "--embeddings FILE brings the vectors" in words(result.stderr)


def test_embeddings_of_another_length_are_refused_by_a_model(semikpca, vectors, tmp_path):
    assert semikpca("label", "t.csv", "-l", "topic", "--embeddings", "rows.npy", "--save", "m").exit_code == 0
    np.save(tmp_path / "longer.npy", np.hstack([vectors, vectors]))
    result = semikpca("predict", "m", "t.csv", "--embeddings", "longer.npy")
    assert result.exit_code == 1
    assert "10 numbers, where the column was learned from as vectors of 5 numbers" in words(result.stderr)


def test_embeddings_are_never_written_over_and_do_not_go_with_a_cluster(semikpca, vectors, tmp_path):
    pq.write_table(pa.table({"v": list(vectors)}), tmp_path / "e.parquet")
    about = ["label", "t.csv", "-l", "topic", "--embeddings", "e.parquet"]
    assert "which is read" in words(semikpca(*about, "-o", "e.parquet", "--force").stderr)
    assert "--embeddings does not go with --scheduler" in words(semikpca(*about, "--scheduler", "here:1").stderr)


# -- the page --------------------------------------------------------------------------------------------------


@pytest.fixture
def page(monkeypatch, tmp_path):
    """What would be served, without a server."""
    pytest.importorskip("dash", reason="dash is not installed: pip install 'semikpca[app]'")
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))
    served = SimpleNamespace(workspace=None)

    def serve(workspace, **options):
        served.workspace = workspace
        return SimpleNamespace(url="http://here", run=lambda: None)

    monkeypatch.setattr("semikpca.cli._app_command.serve", serve)
    return served


@pytest.mark.parametrize(
    "about", [["rows.npy", "--labels", "topics.csv"], ["t.csv", "--id-column", "id", "--embeddings", "rows.npz"]]
)
def test_the_page_opens_embeddings_with_their_labels(about, semikpca, vectors, page):
    result = semikpca("app", *about, "--label-column", "topic", "--no-browser")
    assert result.exit_code == 0, result.output
    table = page.workspace.table
    assert table.session.n_rows == N_ROWS
    assert sum(label is not None for label in table.session.given) == 12
    name, content = table.download()
    assert name.endswith("-labeled.csv")
    assert b"embedding" not in content.splitlines()[0]
    assert [name for name, _ in table.cells(0)] == (["id", "noise"] if "t.csv" in about else [])


def test_the_page_needs_a_file_for_its_labels(semikpca, vectors, page):
    result = semikpca("app", "--labels", "topics.csv", "--no-browser")
    assert result.exit_code == 1
    assert "--labels belongs to a file" in words(result.stderr)


def test_the_page_does_not_offer_vectors_as_labels(semikpca, vectors, page, tmp_path):
    pq.write_table(pa.table({"vector": list(vectors), "topic": GIVEN}), tmp_path / "v.parquet")
    assert semikpca("app", "v.parquet", "--no-browser").exit_code == 0
    assert page.workspace.pending.candidates() == ["topic"]


def test_what_is_neither_file_nor_folder_is_called_so(semikpca):
    result = semikpca("app", "nothing-here", "--no-browser")
    assert result.exit_code == 1
    assert "There is no file or folder nothing-here" in words(result.stderr)


def test_options_of_a_file_are_refused_for_a_folder(semikpca):
    result = semikpca("app", ".", "--label-column", "topic", "--no-browser")
    assert result.exit_code == 1
    assert "--label-column belongs to a file, and . is a folder" in words(result.stderr)


def test_an_array_is_labeled_on_the_page_from_nothing(semikpca, vectors, page):
    assert semikpca("app", "rows.npy", "--no-browser").exit_code == 0
    assert page.workspace.pending.candidates() == []
    events = [{"number": 1, "act": "column", "value": "", "new": "1"}]
    assert page.workspace.handle("tab", events).tab.message is None
    page.workspace.wait(PATIENCE)
    session = page.workspace.table.session
    for row in range(6):
        session.label([row], session.add_class(TOPICS[row]) if row < 2 else TOPICS[row])
    _, content = page.workspace.table.download()
    header, *rows = content.decode().splitlines()
    assert header == "row,label,predicted_label,confidence,label_was_given,looks_wrong"
    assert [row.split(",")[1] for row in rows[5:8]] == ["b", "", ""]
