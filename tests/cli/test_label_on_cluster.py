"""``semikpca label --scheduler``: a table in pieces, labeled by the workers of a cluster.

Two worker processes on this computer are the cluster. The answers are held against the local estimator on the same rows
in one piece.
"""

import datetime
import os
import signal
import subprocess
import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import COMMAND
from semikpca import SemiKPCAClassifier
from semikpca.kernels import RBF, Linear, Nystroem
from semikpca.labeling import audit_labels
from semikpca.tables import ColumnRoles, given_labels, make_vectorizer, read_table
from small_tables import make_plants

distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'semikpca[dask]'")

pytestmark = pytest.mark.slow  # a cluster of worker processes is started

ADDED = ["predicted_label", "confidence", "label_was_given", "looks_wrong"]
# Confidences are written with four digits; decisions in float32 differ in their last digits with the chunks.
CONFIDENCE_TOLERANCE = 1.01e-4
A_START = 120  # seconds; far more than it takes, so that a test that hangs fails


@pytest.fixture(scope="module")
def scheduler():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def label(semikpca, scheduler):
    """A function that labels on the cluster."""

    def run(file, *more):
        return semikpca("label", file, "--label-column", "kind", "--scheduler", scheduler, *more)

    return run


def words(text):
    return " ".join(text.split())


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def garden(n_rows=300, seed=3):
    """Return an Arrow table of numbers, categories, dates, texts, vectors and empty cells."""
    frame, names = make_plants(n_rows, 24, seed)
    generator = np.random.default_rng(seed)
    said = {"fern": "shade and water every day", "moss": "never in the sun", "palm": "needs a lot of light and warmth"}
    frame["notes"] = [
        f"{said[name]}, {generator.choice(['good', 'bad', 'no'])} year {i}" for i, name in enumerate(names)
    ]
    frame["height"] = pd.to_numeric(frame["height"])
    days = [datetime.date(2026, 1, 1) + datetime.timedelta(days=int(day)) for day in generator.integers(0, 300, n_rows)]
    # Some pieces below have no day at all.
    frame["day"] = [None if row < 100 else day for row, day in enumerate(days)]
    types = {"height": pa.float32(), "day": pa.date32()}
    arrow = pa.table({name: pa.array(frame[name], types.get(name, pa.string())) for name in frame.columns})
    vectors = list(generator.normal(size=(n_rows, 4)).astype(np.float32))
    vectors[:10] = [None] * 10  # and some no vector
    return arrow.append_column("vector", pa.array(vectors, pa.list_(pa.float32())))


def expected(path, roles, kernel):
    """Return the labels, confidences and flags of the local estimator on the rows of a table in one piece."""
    table = read_table(path)
    columns = [name for name in table.frame.columns if name not in (roles.label, roles.id, *roles.exclude)]
    X = make_vectorizer(roles).fit_transform(table.features[columns])
    model = SemiKPCAClassifier(kernel, backend="low-rank").fit(X, given_labels(table, roles))
    audit = audit_labels(model)
    wrong = audit.rows[audit.looks_wrong]
    return model.transduction_, np.max(model.label_distributions_, axis=1), np.isin(np.arange(len(X)), wrong)


def assert_as_expected(found, answers):
    labels, confidence, wrong = answers
    assert found["predicted_label"].tolist() == labels.tolist()
    np.testing.assert_allclose(found["confidence"], confidence, rtol=0, atol=CONFIDENCE_TOLERANCE)
    assert found["looks_wrong"].tolist() == wrong.tolist()


# -- what it writes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "kernel"),
    [
        ((), Nystroem(RBF(), random_state=0)),
        (("--kernel", "linear", "--seed", "5"), Nystroem(Linear(), random_state=5)),
    ],
    ids=["rbf", "linear"],
)
def test_uneven_pieces_are_labeled_as_the_local_estimator_labels_the_whole(more, kernel, label, tmp_path):
    arrow = garden()
    pq.write_table(arrow, tmp_path / "whole.parquet")
    (tmp_path / "rows.parquet").mkdir()
    bounds = [0, 7, 90, 91, 300]
    for number, (start, stop) in enumerate(pairwise(bounds)):
        pq.write_table(arrow[start:stop], tmp_path / f"rows.parquet/part-{number + 8}.parquet")
    roles = ["--id-column", "plant", "--exclude", "leaves", "--text-column", "notes"]
    result = label("rows.parquet", "-o", "out.parquet", *roles, *more)
    assert result.exit_code == 0, result.output

    parts = sorted((tmp_path / "out.parquet").iterdir())
    assert [pq.read_metadata(part).num_rows for part in parts] == [7, 83, 1, 209]
    whole = pa.concat_tables([pq.read_table(part) for part in parts])
    assert whole.drop_columns(ADDED).equals(arrow)  # cells, types and order
    assert whole.column_names[-4:] == ADDED
    found = whole.to_pandas()
    assert_as_expected(
        found, expected(tmp_path / "whole.parquet", ColumnRoles("kind", "plant", ("notes",), ("leaves",)), kernel)
    )
    assert found["label_was_given"].tolist() == [kind != "" for kind in arrow["kind"].to_pylist()]
    assert files(tmp_path) == ["out.parquet", "rows.parquet", "whole.parquet"]


def test_labels_as_people_type_them_and_rows_without_anything(label, tmp_path):
    frame, _ = make_plants()
    given, unlabeled = np.flatnonzero(frame["kind"] == "moss"), np.flatnonzero(frame["kind"] == "")
    frame.loc[given[:2], "kind"] = "MOSS"
    frame.loc[unlabeled[:4], "kind"] = "n/a"
    frame.loc[unlabeled[-3:], ["height", "leaves", "place"]] = ""
    frame.to_csv(tmp_path / "plants.csv", index=False)
    result = label("plants.csv", "-o", "out.parquet", "--id-column", "plant")
    assert result.exit_code == 0, result.output
    for note in ("'MOSS' (2 rows) as 'moss'", "'n/a' (4 rows) in 'kind' is taken as no label", "3 rows have nothing"):
        assert note in words(result.output)
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert found["kind"].tolist() == frame["kind"].tolist()
    assert set(found["predicted_label"]) == {"fern", "moss", "palm"}
    assert found["label_was_given"].tolist() == (~frame["kind"].isin(["", "n/a"])).tolist()
    assert found["confidence"][unlabeled[-3:]].tolist() == [0.3333] * 3


def test_text_files_of_a_pattern_are_one_table_in_the_order_of_their_numbers(label, tmp_path, monkeypatch):
    monkeypatch.setattr("semikpca.tables._pieces.LARGEST_TEXT_PIECE", 700)
    frame, names = make_plants()
    frame.to_csv(tmp_path / "whole.csv", index=False)
    for number, (start, stop) in {1: (0, 5), 2: (5, 70), 10: (70, 90)}.items():
        frame[start:stop].to_csv(tmp_path / f"part-{number}.csv", index=False)
    result = label("part-*.csv", "-o", "out.parquet", "--id-column", "plant")
    assert result.exit_code == 0, result.output
    assert len(files(tmp_path / "out.parquet")) > 3
    found = pd.concat([pd.read_parquet(part) for part in sorted((tmp_path / "out.parquet").iterdir())])
    assert found["plant"].tolist() == frame["plant"].tolist()
    assert found["height"].tolist() == frame["height"].tolist()
    assert (found["predicted_label"].to_numpy() == names).mean() > 0.9
    kernel = Nystroem(RBF(), random_state=0)
    assert_as_expected(found, expected(tmp_path / "whole.csv", ColumnRoles("kind", "plant"), kernel))


def test_numbers_as_labels_stay_numbers_and_a_name_that_is_taken_gets_an_underscore(label, tmp_path):
    rng = np.random.default_rng(0)
    group = np.arange(60) % 2
    labels = [int(2 * g - 1) if row < 10 else None for row, g in enumerate(group)]  # -1 is a class: others are empty
    arrow = pa.table({"x": 4.0 * group + rng.normal(size=60), "kind": pa.array(labels), "confidence": ["high"] * 60})
    pq.write_table(arrow, tmp_path / "rows.parquet", row_group_size=25)
    assert label("rows.parquet").exit_code == 0  # the output is beside it
    found = pq.read_table(tmp_path / "rows.labeled.parquet")
    assert found.schema.field("predicted_label").type == pa.int64()
    assert found.column_names == ["x", "kind", "confidence", "predicted_label", "confidence_", *ADDED[2:]]
    assert found.select(["x", "kind", "confidence"]).equals(arrow)
    assert (found["predicted_label"].to_numpy() == 2 * group - 1).mean() > 0.9


def test_rows_that_do_not_fit_the_memory_of_the_workers_are_read_again(label, tmp_path, plants, monkeypatch):
    assert label("plants.csv", "-o", "held.parquet", "--id-column", "plant").exit_code == 0
    monkeypatch.setattr("semikpca.workflow._cluster_table._SHARE_OF_MEMORY", 0)
    assert label("plants.csv", "-o", "read.parquet", "--id-column", "plant").exit_code == 0
    assert pq.read_table(tmp_path / "held.parquet").equals(pq.read_table(tmp_path / "read.parquet"))


def test_an_earlier_output_is_replaced_only_when_asked_and_only_if_it_is_one(label, tmp_path, plants):
    out = tmp_path / "out.parquet"
    out.mkdir()
    (out / "part-7.parquet").write_bytes(b"earlier")
    refused = label("plants.csv", "-o", "out.parquet")
    assert refused.exit_code == 1
    assert "Add --force" in words(refused.stderr)
    assert files(out) == ["part-7.parquet"]
    assert label("plants.csv", "-o", "out.parquet", "--force").exit_code == 0
    assert files(out) == ["part-0.parquet"]
    (out / "thesis.txt").write_text("keep")
    refused = label("plants.csv", "-o", "out.parquet", "--force")
    assert refused.exit_code == 1
    assert "holds thesis.txt, which is no Parquet file" in words(refused.stderr)
    assert files(out) == ["part-0.parquet", "thesis.txt"]
    assert files(tmp_path) == ["out.parquet", "plants.csv"]


def test_labels_of_an_earlier_run_are_not_learned_from_and_give_way(label, tmp_path, plants):
    assert label("plants.csv", "-o", "one.parquet", "--id-column", "plant").exit_code == 0
    result = label("one.parquet", "-o", "two.parquet", "--id-column", "plant")
    assert result.exit_code == 0, result.output
    assert "come from an earlier run" in words(result.stderr)
    one, two = (pd.read_parquet(tmp_path / name) for name in ("one.parquet", "two.parquet"))
    pd.testing.assert_frame_equal(two, one)


# -- what it says ------------------------------------------------------------------------------------------------


def test_the_summary_has_rows_labels_shares_accuracy_and_certificate(label, tmp_path, plants):
    result = label("plants.csv", "-o", "out.parquet")
    said = words(result.stdout)
    assert "plants.csv: 90 rows, 15 with a label, 75 without" in said
    assert "Learned from 3 columns" in said
    assert "'plant' looks like an identifier" in words(result.stderr)
    found = pd.read_parquet(tmp_path / "out.parquet")
    for name, rows in found.groupby("predicted_label"):
        assert f"{name} 5 {len(rows)} {len(rows) / 90:.0%}" in said
        assert f"{rows['confidence'].mean():.2f}" in said
    assert "with the unlabeled rows" in said
    assert "95% interval" in said
    assert "Convexity certificate" in said
    assert "Labels: out.parquet" in said
    assert "The column 'plant' looks like an identifier" in words(result.stderr)


# -- what it refuses ---------------------------------------------------------------------------------------------


def assert_refused(result, reason, folder, before):
    assert result.exit_code == 1
    assert reason in words(result.output)
    assert files(folder) == before


@pytest.mark.parametrize(
    ("change", "more", "reason"),
    [
        ({}, ("--label-column", "kinds"), "has no column 'kinds'. Did you mean 'kind'?"),
        ({}, ("--id-column", "plnt"), "--id-column: plants.csv has no column 'plnt'"),
        ({}, ("--exclude", "kind"), "named in --label-column and in --exclude"),
        ({"kind": ""}, (), "There is no label in the column 'kind' of plants.csv"),
        ({"kind": ["moss"] + [""] * 89}, (), "All labels in the column 'kind' of plants.csv are 'moss'"),
        ({"kind": ["moss", "fern"] * 45}, (), "Every row has a label in the column 'kind' of plants.csv"),
        ({"height": "1", "leaves": "2", "place": "bog"}, ("--exclude", "plant"), "nothing to learn from"),
        ({"height": ["inf"] + ["1"] * 89}, (), "plants.csv, data row 1: inf in the column 'height' is infinite"),
        ({}, ("-o", "out.csv"), "Name it out.parquet."),
        ({}, ("-o", "nowhere/out.parquet"), "there is no folder nowhere"),
        ({}, ("--report", "page.html"), "--report does not go with --scheduler"),
        ({}, ("--save", "a.model"), "--save does not go with --scheduler"),
        ({}, ("--labels", "plants.csv"), "--labels does not go with --scheduler"),
        ({}, ("--kernel", "graph"), "--kernel graph does not go with --scheduler"),
        ({}, ("--kernel", "rbf,linear"), "takes one kernel"),
        ({}, ("--error-weight", "2"), "between 0 and 1"),
    ],
)
def test_what_cannot_be_labeled_is_refused_and_nothing_is_written(change, more, reason, label, tmp_path):
    make_plants()[0].assign(**change).to_csv(tmp_path / "plants.csv", index=False)
    more = more if "-o" in more else ("-o", "out.parquet", *more)
    assert_refused(label("plants.csv", *more), reason, tmp_path, ["plants.csv"])


def test_a_cell_that_the_sample_did_not_show_is_refused_with_its_file(label, tmp_path, monkeypatch):
    monkeypatch.setattr("semikpca.workflow._cluster_table.MOST_SAMPLED_ROWS", 20)
    frame, _ = make_plants()
    frame[:60].to_csv(tmp_path / "part-1.csv", index=False)
    frame[60:].assign(leaves=["3"] * 29 + ["many"]).to_csv(tmp_path / "part-2.csv", index=False)
    result = label("part-*.csv", "-o", "out.parquet", "--id-column", "plant")
    reason = "part-2.csv: Column 'leaves', data row 30: 'many' is no number"
    assert_refused(result, reason, tmp_path, ["part-1.csv", "part-2.csv"])
    assert "--text-column" in words(result.output)


def test_more_labels_than_the_client_takes_are_refused(label, tmp_path, plants, monkeypatch):
    monkeypatch.setattr("semikpca.workflow._cluster_table.MOST_LABELS", 14)
    result = label("plants.csv", "-o", "out.parquet")
    assert_refused(result, "More than 14 rows of plants.csv have a label in 'kind'", tmp_path, ["plants.csv"])


def test_several_files_need_a_name_for_the_output(label, tmp_path, plants):
    assert_refused(label("pl*.csv"), "Name the output with -o", tmp_path, ["plants.csv"])


def test_what_is_read_is_never_written_over(label, tmp_path):
    (tmp_path / "rows.parquet").mkdir()
    pq.write_table(garden(), tmp_path / "rows.parquet/part-0.parquet")
    result = label("rows.parquet", "-o", "rows.parquet", "--force")
    assert_refused(result, "which is read: it is never written over", tmp_path, ["rows.parquet"])
    assert files(tmp_path / "rows.parquet") == ["part-0.parquet"]


# -- the cluster -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense://x"])
def test_a_scheduler_that_does_not_answer_is_named(address, semikpca, plants, tmp_path):
    result = semikpca("label", "plants.csv", "-l", "kind", "-o", "out.parquet", "--scheduler", address)
    assert_refused(result, f"No Dask scheduler answers at {address} within", tmp_path, ["plants.csv"])


def test_a_cluster_without_workers_is_refused(semikpca, plants, tmp_path):
    with distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=":0") as cluster:
        address = cluster.scheduler_address
        result = semikpca("label", "plants.csv", "-l", "kind", "-o", "out.parquet", "--scheduler", address)
    assert_refused(result, "The Dask cluster has no worker", tmp_path, ["plants.csv"])


def test_workers_that_do_not_see_the_files_are_named(label, plants, tmp_path, monkeypatch):
    def sees_nothing(file, folder):  # sent to the workers by value
        return str(file)

    monkeypatch.setattr("semikpca.workflow._cluster_label.unseen", sees_nothing)
    result = label("plants.csv", "-o", "out.parquet")
    assert_refused(result, f"does not see {tmp_path / 'plants.csv'}. The table and the", tmp_path, ["plants.csv"])
    assert "put both in a folder that they share" in words(result.output)


def test_workers_with_another_version_are_named(label, plants, tmp_path, monkeypatch):
    def another(package):
        return "0.0.1"

    monkeypatch.setattr("semikpca.workflow._cluster_label.version", another)
    monkeypatch.setattr("semikpca.workflow._cluster_label._SAME_EVERYWHERE", ("semikpca",))
    calls = iter(["0.0.1", "9.9"])
    monkeypatch.setattr(
        "distributed.Client.run", lambda self, *a, **k: {"worker-1": next(calls), "worker-2": next(calls)}
    )
    result = label("plants.csv", "-o", "out.parquet")
    assert_refused(
        result, "The worker worker-2 has semikpca 9.9, and this computer has 0.0.1", tmp_path, ["plants.csv"]
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_client_that_is_killed_leaves_no_output_and_the_next_one_writes_it(label, scheduler, plants, tmp_path):
    arguments = ["label", "plants.csv", "-l", "kind", "-o", "out.parquet", "--scheduler", scheduler]
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + A_START
    while not list(tmp_path.glob(".out.parquet.*.partial")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait(A_START) == -signal.SIGKILL
    left = list(tmp_path.glob(".out.parquet.*.partial"))
    assert len(left) == 1
    assert not (tmp_path / "out.parquet").exists()
    assert label("plants.csv", "-o", "out.parquet").exit_code == 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 90
    assert list(tmp_path.glob(".*")) == left  # nothing more


def test_a_missing_package_is_named_with_its_remedy(semikpca, plants, monkeypatch):
    import sys

    import semikpca.operators as operators

    for name in [name for name in sys.modules if name.startswith("semikpca.operators.cluster")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(operators, "cluster", raising=False)
    monkeypatch.setitem(sys.modules, "dask", None)  # as if it were not installed
    result = semikpca("label", "plants.csv", "-l", "kind", "--scheduler", "127.0.0.1:1")
    assert result.exit_code == 1
    assert "--scheduler needs the package dask: pip install 'semikpca[dask]'" in words(result.stderr)


def test_numbers_are_refused_with_the_way_out(semikpca, scheduler, tmp_path):
    frame, _ = make_plants()
    frame["price"] = [f"{5 + (37 * row % 60) / 7:.2f}" if row < 60 else "" for row in range(len(frame))]
    frame.to_csv(tmp_path / "plants.csv", index=False)
    result = semikpca("label", "plants.csv", "--label-column", "price", "--scheduler", scheduler)
    assert result.exit_code == 1
    assert "The column 'price' of plants.csv has numbers, and a cluster predicts classes alone." in words(result.output)
    assert "--classes" in result.output
    assert not (tmp_path / "plants.labeled.parquet").exists()
