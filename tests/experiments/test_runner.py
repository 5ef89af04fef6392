"""The runner against the paper's protocol written naively, one fit at a time."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from semikpca.datasets import load_paper_dataset
from semikpca.experiments import Cell, PaperSpec, paper_label_counts, paper_values, run_cell, run_missing
from semikpca.experiments._runner import draw_labeled_rows

SPEC = PaperSpec(datasets=("iris", "synth"), repetitions=3, seed=5, n_weights=7)


def naive_cell(spec, cell):
    """The protocol of the paper line by line: hits of every model, weight and draw."""
    data = load_paper_dataset(cell.dataset, seed=spec.seed)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    n, d = X.shape
    distances = pdist(X)
    K = np.exp(-(squareform(distances) ** 2) / (2 * np.median(distances) ** 2))
    eigenvalues, eigenvectors = np.linalg.eigh(K)
    truth = np.where(data.y == 1, 1, -1)
    first, second = eigenvalues[-1], eigenvalues[-2]
    without_first = K - first * np.outer(eigenvectors[:, -1], eigenvectors[:, -1])
    draws = draw_labeled_rows(cell, n, spec.repetitions, spec.seed)

    def hits(decide):
        found = []
        for rows in draws:
            y = np.zeros(n)
            y[rows] = truth[rows]
            unlabeled = np.setdiff1d(np.arange(n), rows)
            found.append(int((np.sign(decide(y, rows))[unlabeled] == truth[unlabeled]).sum()))
        return found

    def semi_kpca(matrix, gamma):
        return hits(lambda y, rows: matrix @ np.linalg.solve(np.eye(n) / gamma - matrix, y))

    def semi_lssvm(gamma):
        return hits(lambda y, rows: K @ np.linalg.solve(np.eye(n) / gamma + K, y))

    def subs_lssvm(gamma):
        return hits(
            lambda y, rows: K[:, rows] @ np.linalg.solve(np.eye(len(rows)) / gamma + K[np.ix_(rows, rows)], y[rows])
        )

    return {
        "semi_kpca_0": (lambda g: semi_kpca(K, g), 0.5 / first),
        "semi_kpca_1": (lambda g: semi_kpca(without_first, g), 1 / np.sqrt(first * second)),
        "semi_lssvm": (semi_lssvm, 10 * d / n),
        "subs_lssvm": (subs_lssvm, 100 * d / n),
    }


@pytest.mark.parametrize("cell", [Cell("iris", 8), Cell("synth", 20)], ids=str)
def test_hits_equal_the_naive_protocol(cell):
    record = run_cell(SPEC, cell)
    for model, (naive, fixed) in naive_cell(SPEC, cell).items():
        ours = record.models[model]
        assert ours.fixed_error_weight == pytest.approx(fixed, rel=1e-9)  # eigenvalues from another routine
        assert ours.fixed_hits.tolist() == naive(fixed)
        for index in (0, 3, 6):
            assert ours.hits[index].tolist() == naive(ours.error_weights[index]), (model, index)


def test_all_weights_of_semi_kpca_are_inside_the_interval():
    record = run_cell(SPEC, Cell("iris", 2))
    for k in (0, 1):
        assert (record.models[f"semi_kpca_{k}"].error_weights < 1 / record.eigenvalues[k]).all()


def test_ten_draws_are_the_first_ten_of_a_hundred():
    cell = Cell("iris", 8)
    few, many = (draw_labeled_rows(cell, 150, n, seed=1) for n in (10, 100))
    assert (few == many[:10]).all()
    assert len({tuple(sorted(draw)) for draw in many}) == 100


def test_draws_are_uniform_and_do_not_force_both_classes_in():
    draws = draw_labeled_rows(Cell("iris", 2), 150, 2000, seed=0)
    counts = np.bincount(draws.ravel(), minlength=150)
    # 4000 picks over 150 rows: 26.7 each, spread about 5.2; six spreads to either side.
    assert counts.min() > 0
    assert counts.max() < 26.7 + 6 * 5.2
    setosa = (draws < 50).sum(axis=1)
    assert {0, 1, 2} == set(setosa)


@pytest.mark.slow  # worker processes are started
def test_records_do_not_depend_on_the_number_of_processes():
    spec = PaperSpec(datasets=("iris",), repetitions=2, seed=1, n_weights=5)
    alone = {str(record.cell): record.to_dict() for record in run_missing(spec, spec.cells(), jobs=1)}
    together = {str(record.cell): record.to_dict() for record in run_missing(spec, spec.cells(), jobs=2)}
    assert alone == together


def test_the_default_covers_the_216_printed_cells():
    assert len(paper_values()) == 216
    assert len(PaperSpec().cells()) == 36
    assert paper_label_counts("heart") == (3, 6, 14, 27)
    assert PaperSpec().n_weights >= 60


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"datasets": ("irs",)}, "no data set 'irs'"),
        ({"datasets": ()}, "at least one"),
        ({"datasets": ("iris", "iris")}, "each once"),
        ({"repetitions": 0}, "repetitions must be a whole number, 1 or more, got 0"),
        ({"seed": -1}, "seed must be a whole number, 0 or more, got -1"),
        ({"n_weights": 1}, "n_weights must be a whole number, 2 or more, got 1"),
    ],
)
def test_a_spec_that_cannot_be_run_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        PaperSpec(**options)
