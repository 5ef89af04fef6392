"""The benchmark of losses at its smallest size: answers are checked, and every loss has a number."""

import numpy as np
import pytest

import bench_losses as benchmark
from commands import rows_of
from semikpca import SemiKPCAClassifier
from semikpca.losses import PseudoHuber

LOSSES = [repr(loss) for loss in benchmark.LOSSES]


@pytest.mark.slow
def test_every_part_writes_what_it_promises(tmp_path):
    small = ["--datasets", "wine", "--draws", "2", "--rows", "90", "--cost-rows", "600", "--reading-rows", "150"]
    benchmark.main([*small, "--repeats", "1", "--out", str(tmp_path)])
    accuracies = rows_of(tmp_path / "losses.csv")
    assert len(accuracies) == len(benchmark.CONDITIONS) * len(benchmark.SETTINGS)
    assert all(100 / 3 < float(row[loss]) <= 100 for row in accuracies for loss in LOSSES)  # better than a guess
    assert all("bench_losses.py --datasets wine" in row["command"] for row in accuracies)
    costs = rows_of(tmp_path / "losses_cost.csv")
    assert [row["loss"] for row in costs] == 4 * LOSSES
    assert all(int(row["products"]) > 0 for row in costs)
    readings = rows_of(tmp_path / "losses_readings.csv")
    assert {"leave_one_label_out", "prediction_sets"} <= {row["reading"] for row in readings}


def rows():
    rng = np.random.default_rng(0)
    return rng.standard_normal((200, 3)), np.arange(200) % 2


def test_flipped_labels_are_wrong_and_as_many_as_said():
    X, truth = rows()
    _, y, judged = benchmark.drawn(X, truth, "40% flipped", 3)
    given = y != -1
    assert given.sum() == 2 * benchmark.LABELS_A_CLASS
    assert (y[given] != truth[given]).sum() == round(0.4 * given.sum())
    assert (judged == ~given).all()


def test_far_rows_are_far_and_not_judged():
    X, truth = rows()
    moved, y, judged = benchmark.drawn(X, truth, "1% of rows far away", 3)
    far = np.flatnonzero((moved != X).any(axis=1))
    assert len(far) == 2
    assert np.linalg.norm(moved[far] - X[far], axis=1).min() > 20
    assert not judged[far].any()
    assert (y[y != -1] == truth[y != -1]).all()


def test_an_answer_that_is_off_is_not_timed():
    X, y = benchmark.made_up(300, 2, 40)
    model = SemiKPCAClassifier(loss=PseudoHuber()).fit(X, y)
    benchmark.check(model, X, y)
    model.decision_ = 1.01 * model.decision_
    with pytest.raises(AssertionError, match="optimality condition is off by"):
        benchmark.check(model, X, y)
