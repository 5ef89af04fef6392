"""Who is labeled and whose label is wrong: fixed by seed, set, count and draw, and by nothing else."""

import json
from functools import cache

import numpy as np
import pytest

from made_records import cell_of, folder_info
from semikpca.exceptions import DatasetError, RecordError
from semikpca.experiments import Cell
from semikpca.experiments._runner import draw_labeled_rows as paper_draws
from semikpca_benchmarks.accuracy import AccuracyCell, AccuracySpec, label_counts, labels_of_class, resolve_datasets
from semikpca_benchmarks.accuracy._draws import draw_labeled_rows, flip_labels, method_generator
from semikpca_benchmarks.datasets import DataFolder, benchmark_info, load_benchmark_dataset

DRAWS = range(30)


@cache
def classes_of(dataset):
    return load_benchmark_dataset(dataset).y


def rows_of(dataset, labels, draw, seed=0):
    return draw_labeled_rows(cell_of(dataset, labels), classes_of(dataset), draw, seed)


@pytest.mark.parametrize(("dataset", "labels"), [("iris", 2), ("heart", 3), ("digits", 1), ("yeast3", 1), ("wine", 5)])
def test_every_class_has_a_label_and_no_row_two(dataset, labels):
    y = classes_of(dataset)
    n_labeled = cell_of(dataset, labels).n_labeled
    for draw in DRAWS:
        rows = rows_of(dataset, labels, draw)
        assert len(rows) == len(set(rows.tolist())) == n_labeled
        assert set(y[rows]) == set(y)


def test_the_papers_sets_count_labels_in_all_and_the_others_per_class():
    assert cell_of("heart", 3).n_labeled == 3
    assert cell_of("heart", 3).labels_per_class == 1.5
    assert cell_of("wine", 5).n_labeled == 15
    assert cell_of("digits", 10).n_labeled == 100


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
    noisy = draw_labeled_rows(cell_of("wine", 5, flipped=40), classes_of("wine"), 3, 0)
    assert noisy.tolist() == first.tolist()


@pytest.mark.parametrize("percent", [20, 40])
@pytest.mark.parametrize("n_classes", [2, 10])
def test_the_asked_share_of_labels_becomes_another_class(percent, n_classes):
    labels = np.arange(100) % n_classes
    cell = cell_of("digits", 10, percent)
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
    assert flip_labels(cell_of("wine", 10), labels, 3, 0, 0).tolist() == labels.tolist()


def test_methods_have_random_numbers_of_their_own():
    cell = cell_of("wine", 5)
    numbers = {name: method_generator(cell, name, 0, 0).random() for name in ("svc", "lssvm")}
    assert numbers["svc"] != numbers["lssvm"]
    assert method_generator(cell, "svc", 0, 0).random() == numbers["svc"]


def test_label_counts_are_those_of_the_protocol():
    assert label_counts(benchmark_info("heart")) == (3, 6, 14, 27)
    assert label_counts(benchmark_info("digits")) == (1, 2, 3, 5, 10)
    assert label_counts(benchmark_info("twonorm")) == (1, 2, 5, 10, 20)
    assert label_counts(benchmark_info("wine")) == (1, 2, 5, 10)  # 60 of 178 rows are more than a third
    assert label_counts(benchmark_info("movement_libras")) == (1, 2, 5)


@pytest.mark.parametrize("name", resolve_datasets(["rare"]))
def test_the_sets_with_a_rare_class_have_one_to_five_labels_of_each_class(name):
    assert label_counts(benchmark_info(name)) == (1, 2, 3, 5)
    y = classes_of(name)
    for labels in (1, 5):
        assert np.bincount(y[rows_of(name, labels, 0)]).tolist() == [labels] * benchmark_info(name).n_classes


class TestSetsOfAFolder:
    INFO = folder_info("made up", (16, 600, 5, 2))
    Y = np.repeat(np.arange(4), (16, 600, 5, 2))

    def test_each_class_gives_the_asked_number_and_a_small_one_keeps_a_third_of_its_rows(self):
        for labels, expected in ((1, [1, 1, 1, 1]), (2, [2, 2, 2, 1]), (10, [10, 10, 3, 1])):
            cell = AccuracyCell(self.INFO, labels)
            rows = draw_labeled_rows(cell, self.Y, 0, 0)
            assert np.bincount(self.Y[rows]).tolist() == expected
            assert cell.n_labeled == len(rows) == len(set(rows.tolist()))
            assert cell.labels_per_class == labels  # what was asked for

    @pytest.mark.parametrize("size", range(2, 40))
    def test_at_least_a_third_of_a_class_stays_unlabeled_and_no_row_more_than_needed(self, size):
        given = labels_of_class(1000, size)
        assert given >= 1
        assert size - given >= size / 3
        assert size - (given + 1) < size / 3

    def test_counts_beyond_a_third_of_the_rows_are_skipped(self):
        assert label_counts(folder_info(class_sizes=(10,) * 40)) == (1, 2)
        assert label_counts(folder_info(class_sizes=(15, 15)), (5, 6, 1)) == (1, 5)
        assert label_counts(self.INFO) == (1, 2, 5, 10)


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
    assert resolve_datasets(["rare"]) == (*resolve_datasets(["rare-tuning"]), *resolve_datasets(["rare-aside"]))
    assert len(resolve_datasets(["all", "paper", "wine"])) == 50


def test_groups_of_a_folder_are_resolved_beside_those_of_the_benchmark():
    groups = {"folder": ("cells", "mails"), "text": ("mails",)}
    assert resolve_datasets(["text", "digits", "folder"], groups) == ("mails", "digits", "cells")
    assert len(resolve_datasets(["all"], groups)) == 50 + 2
    with pytest.raises(DatasetError, match=r"no data set 'mail'; the benchmark has .*; the folder has cells, mails"):
        resolve_datasets(["mail"], groups)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"datasets": ("irs",)}, "no data set 'irs'"),
        ({"datasets": ()}, "datasets must hold at least one name"),
        ({"methods": ("svm",)}, "no method 'svm'; there are semikpca cv"),
        ({"methods": ("svc", "svc")}, "methods must hold at least one name, each once"),
        ({"repetitions": 0}, "repetitions must be a whole number, 1 or more, got 0"),
        ({"seed": -1}, "seed must be a whole number, 0 or more, got -1"),
        ({"labels_per_class": (1, 0)}, "labels_per_class must be a whole number, 1 or more, got 0"),
        ({"labels_per_class": (2, 2)}, "labels_per_class must hold a count, each once"),
    ],
)
def test_a_spec_that_cannot_be_run_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        AccuracySpec(**options)


def test_a_spec_comes_back_from_json_as_it_was():
    spec = AccuracySpec(datasets=("iris",), methods=("svc",), repetitions=3, seed=2, noise=False)
    assert AccuracySpec.from_dict(spec.to_dict()) == spec
    folder = a_folder()
    again = AccuracySpec.from_dict(json.loads(json.dumps(AccuracySpec(("mails",), folder=folder).to_dict())))
    assert again.folder == folder


def test_a_spec_of_an_earlier_version_is_refused():
    old = {"datasets": ["iris"], "methods": ["svc"], "repetitions": 2, "seed": 0, "noise": True}
    with pytest.raises(RecordError, match=r"records of version 1, and this one reads 2.*without --resume"):
        AccuracySpec.from_dict(old)


def a_folder(**changes):
    return DataFolder(**{"path": "my sets", "names": ("cells", "mails"), "sets": (folder_info("mails"),), **changes})


def test_a_run_of_a_folder_has_its_cells_and_those_of_other_sets_that_are_named():
    spec = AccuracySpec(("mails", "iris"), folder=a_folder(), labels_per_class=(5, 1), noise=False)
    assert [str(cell) for cell in spec.cells()] == ["mails-1", "mails-5", "iris-2", "iris-3", "iris-8", "iris-15"]
    assert spec.sets_without_cells() == ()


def test_a_set_that_is_too_small_for_all_counts_has_no_cell_and_is_told():
    small = folder_info("small", (2, 2, 2))
    spec = AccuracySpec(("mails", "small"), folder=a_folder(sets=(folder_info("mails"), small)), labels_per_class=(2,))
    assert [str(cell) for cell in spec.cells()] == ["mails-2"]
    assert spec.sets_without_cells() == (small,)
    with pytest.raises(ValueError, match=r"leaves nothing to run on small.*at most a third of the rows"):
        AccuracySpec(("small",), folder=a_folder(sets=(small,)), labels_per_class=(2,))


def test_runs_that_differ_in_what_the_files_hold_are_of_the_same_spec():
    one, other = (AccuracySpec(("mails",), folder=a_folder(sets=(folder_info("mails", sizes),)))
                  for sizes in ((40, 60), (50, 50)))  # fmt: skip
    assert one == other
    assert one.cells() != other.cells()


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
        (
            {"datasets": ("cells", "mails"), "folder": a_folder(sets=(folder_info("cells"), folder_info("mails")))},
            "semikpca bench accuracy --repetitions 50 --seed 0 --data 'my sets'",
        ),
        (
            {
                "datasets": ("mails", *resolve_datasets(["rare"])),
                "folder": a_folder(most_rows=500, standardize=("c*",), as_is=("mails",), groups=("text=mails,c*",)),
                "labels_per_class": (1, 3),
            },
            "semikpca bench accuracy --repetitions 50 --seed 0 --data 'my sets' --labels-per-class 1,3 --most-rows 500 "
            "--standardize 'c*' --as-is mails --group 'text=mails,c*' --datasets rare,mails",
        ),
    ],
)
def test_the_command_makes_the_same_run_again(options, command):
    assert AccuracySpec(**options).command() == command
