"""Who is labeled and whose label is wrong: fixed by seed, set, count and draw, and by nothing else."""

from functools import cache

import numpy as np
import pytest

from semikpca.experiments import Cell
from semikpca.experiments._runner import draw_labeled_rows as paper_draws
from semikpca_benchmarks.accuracy import AccuracyCell, AccuracySpec, label_counts, resolve_datasets
from semikpca_benchmarks.accuracy._draws import draw_labeled_rows, flip_labels, method_generator
from semikpca_benchmarks.datasets import load_benchmark_dataset

DRAWS = range(30)


@cache
def classes_of(dataset):
    return load_benchmark_dataset(dataset).y


def rows_of(dataset, labels, draw, seed=0):
    return draw_labeled_rows(AccuracyCell(dataset, labels), classes_of(dataset), draw, seed)


@pytest.mark.parametrize(("dataset", "labels"), [("iris", 2), ("heart", 3), ("digits", 1), ("yeast3", 1), ("wine", 5)])
def test_every_class_has_a_label_and_no_row_two(dataset, labels):
    y = classes_of(dataset)
    n_labeled = AccuracyCell(dataset, labels).n_labeled
    for draw in DRAWS:
        rows = rows_of(dataset, labels, draw)
        assert len(rows) == len(set(rows.tolist())) == n_labeled
        assert set(y[rows]) == set(y)


def test_the_papers_sets_count_labels_in_all_and_the_others_per_class():
    assert AccuracyCell("heart", 3).n_labeled == 3
    assert AccuracyCell("heart", 3).labels_per_class == 1.5
    assert AccuracyCell("wine", 5).n_labeled == 15
    assert AccuracyCell("digits", 10).n_labeled == 100


def test_a_draw_of_the_paper_command_that_has_both_classes_is_kept():
    y = classes_of("iris")
    papers = paper_draws(Cell("iris", 3), len(y), 30, seed=0)
    both = [draw for draw in DRAWS if len(set(y[papers[draw]])) == 2]
    assert 0 < len(both) < 30
    for draw in both:
        assert rows_of("iris", 3, draw).tolist() == papers[draw].tolist()


def test_digits_have_the_same_number_of_labels_in_each_class():
    y = classes_of("digits")
    for draw in DRAWS:
        assert np.bincount(y[rows_of("digits", 3, draw)]).tolist() == [3] * 10


def test_classes_of_a_further_set_are_labeled_about_as_often_as_they_occur():
    y = classes_of("yeast3")
    counts = np.array([np.bincount(y[rows_of("yeast3", 20, draw)]) for draw in range(200)])
    assert counts.min() >= 1
    # One row of each class, then 38 from the rest: 1 + 38 · 882/1000 of the larger one; 200 draws of spread 2.0 have a
    # standard error of 0.14, four of them.
    assert counts[:, 0].mean() == pytest.approx(1 + 38 * 0.882, abs=0.6)
    assert len(set(map(tuple, counts))) > 1  # not stratified


def test_a_draw_depends_on_seed_set_count_and_number_alone():
    first = rows_of("wine", 5, 3)
    assert rows_of("wine", 5, 3).tolist() == first.tolist()
    for other in (rows_of("wine", 5, 4), rows_of("wine", 5, 3, seed=1)):
        assert sorted(other) != sorted(first)
    noisy = draw_labeled_rows(AccuracyCell("wine", 5, flipped=40), classes_of("wine"), 3, 0)
    assert noisy.tolist() == first.tolist()


@pytest.mark.parametrize("percent", [20, 40])
@pytest.mark.parametrize("n_classes", [2, 10])
def test_the_asked_share_of_labels_becomes_another_class(percent, n_classes):
    labels = np.arange(100) % n_classes
    cell = AccuracyCell("digits", 10, percent)
    seen = set()
    for draw in DRAWS:
        flipped = flip_labels(cell, labels, n_classes, draw, 0)
        assert (flipped != labels).sum() == percent
        assert set(flipped) <= set(range(n_classes))
        seen.update(((flipped - labels) % n_classes).tolist())
    assert seen == set(range(n_classes))  # every other class comes up
    assert (labels == np.arange(100) % n_classes).all()  # what was given stays


def test_without_a_share_no_label_is_wrong():
    labels = np.arange(30) % 3
    assert flip_labels(AccuracyCell("wine", 10), labels, 3, 0, 0).tolist() == labels.tolist()


def test_methods_have_random_numbers_of_their_own():
    cell = AccuracyCell("wine", 5)
    numbers = {name: method_generator(cell, name, 0, 0).random() for name in ("svc", "lssvm")}
    assert numbers["svc"] != numbers["lssvm"]
    assert method_generator(cell, "svc", 0, 0).random() == numbers["svc"]


def test_label_counts_are_those_of_the_protocol():
    assert label_counts("heart") == (3, 6, 14, 27)
    assert label_counts("digits") == (1, 2, 3, 5, 10)
    assert label_counts("twonorm") == (1, 2, 5, 10, 20)
    assert label_counts("wine") == (1, 2, 5, 10)  # 60 of 178 rows are more than a third
    assert label_counts("movement_libras") == (1, 2, 5)


def test_the_default_covers_the_whole_suite_and_the_wrong_labels():
    spec = AccuracySpec()
    cells = spec.cells()
    assert len(set(map(str, cells))) == len(cells)
    assert sum(cell.flipped == 0 for cell in cells if cell.dataset in resolve_datasets(["paper"])) == 36
    noisy = [(cell.dataset, cell.labels, cell.flipped) for cell in cells if cell.flipped]
    assert noisy == [
        (name, 10, percent) for name in ("digits", "segment", "twonorm", "phoneme") for percent in (20, 40)
    ]
    assert spec.repetitions == 50
    assert not [cell for cell in AccuracySpec(noise=False).cells() if cell.flipped]


def test_groups_are_resolved_in_order_and_each_set_once():
    assert resolve_datasets(["digits", "iris", "paper"])[:3] == ("digits", "iris", "australian")
    assert len(resolve_datasets(["all", "paper", "wine"])) == 34


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"datasets": ("irs",)}, "no data set 'irs'"),
        ({"datasets": ()}, "datasets must hold at least one name"),
        ({"methods": ("svm",)}, "no method 'svm'; there are semikpca cv"),
        ({"methods": ("svc", "svc")}, "methods must hold at least one name, each once"),
        ({"repetitions": 0}, "repetitions must be a whole number, 1 or more, got 0"),
        ({"seed": -1}, "seed must be a whole number, 0 or more, got -1"),
    ],
)
def test_a_spec_that_cannot_be_run_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        AccuracySpec(**options)


def test_a_spec_comes_back_from_json_as_it_was():
    spec = AccuracySpec(datasets=("iris",), methods=("svc",), repetitions=3, seed=2, noise=False)
    assert AccuracySpec.from_dict(spec.to_dict()) == spec


@pytest.mark.parametrize(
    ("options", "command"),
    [
        ({}, "semikpca bench accuracy --repetitions 50 --seed 0"),
        (
            {"datasets": ("digits", "wine", *resolve_datasets(["paper"])), "noise": False},
            "semikpca bench accuracy --repetitions 50 --seed 0 --datasets paper,digits,wine --no-noise",
        ),
        (
            {"methods": ("svc", "semikpca rbf"), "seed": 3},
            'semikpca bench accuracy --repetitions 50 --seed 3 --methods "svc,semikpca rbf"',
        ),
    ],
)
def test_the_command_makes_the_same_run_again(options, command):
    assert AccuracySpec(**options).command() == command
