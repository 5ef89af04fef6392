"""What rows are, told from the rows: tables, embeddings and texts as people have them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder, StandardScaler, normalize

from semikpca.kernels._row_kind import RowKind, row_kind

generator = np.random.default_rng(11)


def made_up_texts(n_texts=80, n_words=2000):
    """Texts of 3 to 30 words, common ones more often than rare ones."""
    words = np.array([f"word{number}" for number in range(n_words)])
    chances = 1 / np.arange(1, n_words + 1)
    sizes = generator.integers(3, 30, size=n_texts)
    return [" ".join(generator.choice(words, size, p=chances / chances.sum())) for size in sizes]


def embeddings(n_rows=60, n_columns=64):
    """Vectors that share a direction, as those of most text models do; lengths are similar, not equal."""
    return 0.3 + generator.normal(size=(n_rows, n_columns))


def categories(n_rows=60):
    """Eight columns of categories with four values each."""
    return generator.integers(4, size=(n_rows, 8))


TEXTS = made_up_texts()
KINDS = {
    "embeddings of unit length": (normalize(embeddings()), RowKind.DIRECTIONS),
    "embeddings of similar length": (embeddings(), RowKind.DIRECTIONS),
    "unit embeddings that were rounded to half precision": (
        normalize(embeddings()).astype(np.float16).astype(np.float32),
        RowKind.DIRECTIONS,
    ),
    "TF-IDF": (TfidfVectorizer().fit_transform(TEXTS).toarray(), RowKind.DIRECTIONS),
    "counts of words": (CountVectorizer().fit_transform(TEXTS).toarray().astype(float), RowKind.COUNTS),
    "categories as ones and zeros": (
        OneHotEncoder(sparse_output=False).fit_transform(categories()),
        RowKind.MEASUREMENTS,
    ),
    "one category with many values, as ones and zeros": (np.eye(40)[np.arange(80) % 40], RowKind.MEASUREMENTS),
    "a standardized table": (
        StandardScaler().fit_transform(5 + generator.exponential(size=(60, 30))),
        RowKind.MEASUREMENTS,
    ),
    "a wide table without correlations, standardized": (
        StandardScaler().fit_transform(generator.normal(size=(60, 500))),
        RowKind.MEASUREMENTS,
    ),
    "a table of positive amounts": (generator.exponential(size=(60, 30)), RowKind.MEASUREMENTS),
    "images of ink": (load_digits().data[:200], RowKind.MEASUREMENTS),
}
every_kind = pytest.mark.parametrize("name", KINDS)


@every_kind
def test_rows_are_known_for_what_they_are(name):
    rows, kind = KINDS[name]
    assert row_kind(rows) is kind


def test_there_are_rows_of_every_kind():
    assert {kind for _, kind in KINDS.values()} == set(RowKind)


def test_images_of_ink_are_not_nearly_empty_and_counts_of_words_are():
    # That tells them apart: neither is negative, and both differ in length.
    assert 0.3 < np.mean(KINDS["images of ink"][0] == 0) < 0.6
    assert np.mean(KINDS["counts of words"][0] == 0) > 0.95


@every_kind
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_are_what_dense_rows_are(name, container):
    rows, kind = KINDS[name]
    assert row_kind(container(rows)) is kind


@every_kind
def test_zeros_that_are_stored_are_zeros(name):
    rows, kind = KINDS[name]
    stored = sparse.csr_array(np.ones_like(rows, dtype=float))  # every entry is stored
    stored.data[:] = rows.reshape(-1)
    assert row_kind(stored) is kind


@every_kind
# Powers of ten round every entry; 1e-300 and 1e300 have squares beyond the range of numbers.
@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1e-5, 3.0, 1e5, 1e160, 1e300])
def test_the_unit_of_rows_does_not_matter(name, factor):
    rows, kind = KINDS[name]
    assert row_kind(factor * rows.astype(np.float64)) is kind
    assert row_kind(factor * sparse.csr_array(rows.astype(np.float64))) is kind


@every_kind
@pytest.mark.parametrize("factor", [1e-30, 1.0, 1e30])
def test_single_precision_is_enough(name, factor):
    rows, kind = KINDS[name]
    assert row_kind((factor * rows).astype(np.float32)) is kind


@every_kind
def test_the_order_of_rows_and_columns_does_not_matter(name):
    rows, kind = KINDS[name]
    rows = rows[generator.permutation(rows.shape[0])][:, generator.permutation(rows.shape[1])]
    assert row_kind(rows) is kind
    assert row_kind(np.asfortranarray(rows)) is kind


@every_kind
def test_rows_are_not_changed(name):
    rows = KINDS[name][0].copy()
    rows.setflags(write=False)
    row_kind(rows)


@pytest.mark.parametrize("name", ["embeddings of unit length", "embeddings of similar length", "TF-IDF"])
def test_empty_texts_among_directions_are_passed_over(name):
    rows, kind = KINDS[name]
    rows = np.vstack([rows, np.zeros((5, rows.shape[1]))])
    assert row_kind(rows) is kind
    assert row_kind(sparse.csr_array(rows)) is kind


def test_empty_texts_among_counts_are_passed_over():
    rows = np.vstack([KINDS["counts of words"][0], np.zeros((5, KINDS["counts of words"][0].shape[1]))])
    assert row_kind(rows) is RowKind.COUNTS
    assert row_kind(sparse.csr_array(rows)) is RowKind.COUNTS


@every_kind
def test_few_columns_are_measurements_whatever_is_in_them(name):
    assert row_kind(normalize(KINDS[name][0][:, :19])) is RowKind.MEASUREMENTS


@pytest.mark.parametrize("rows", [np.zeros((5, 30)), np.full((5, 30), 0.1), np.eye(1, 30)], ids=["0", "0.1", "one row"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_rows_that_do_not_differ_and_a_single_row_are_measurements(rows, container):
    assert row_kind(container(rows)) is RowKind.MEASUREMENTS


def test_one_row_is_no_direction():
    assert row_kind(normalize(generator.normal(size=(1, 30)))) is RowKind.MEASUREMENTS
    assert row_kind(np.vstack([generator.normal(size=30), np.zeros((9, 30))])) is RowKind.MEASUREMENTS


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool])
def test_whole_numbers_are_rows_too(dtype):
    counts = KINDS["counts of words"][0]
    assert row_kind(counts.astype(dtype)) is RowKind.COUNTS


def test_an_even_choice_of_many_rows_says_what_all_are():
    many = embeddings(n_rows=10_001, n_columns=32)
    assert row_kind(normalize(many)) is RowKind.DIRECTIONS
    assert row_kind(sparse.csr_array(normalize(many))) is RowKind.DIRECTIONS
    assert row_kind(StandardScaler().fit_transform(many)) is RowKind.MEASUREMENTS


def test_rows_that_were_centered_before_are_measurements_unless_they_have_one_length():
    centered = embeddings(n_rows=300)
    centered -= centered.mean(axis=0)
    assert row_kind(centered) is RowKind.MEASUREMENTS
    assert row_kind(normalize(centered)) is RowKind.DIRECTIONS
