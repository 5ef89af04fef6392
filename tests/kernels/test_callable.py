"""Any function of two objects as a kernel."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import kernels as gaussian_process_kernels
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from semikpca import ConvexKernelPCA, LSSVMClassifier, LSSVMRegressor, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.exceptions import IndefiniteKernelError
from semikpca.kernels import RBF, CallableKernel
from semikpca.labeling import leave_one_label_out

# The same matrix by another route, then one solve.
SAME_MATRIX = 1e-10

WORDS = [
    "walking", "talking", "stalking", "balking", "chalking", "caulking", "making", "baking", "taking",
    "nation", "station", "ration", "creation", "relation", "location", "vacation", "foundation", "donation",
]  # fmt: skip
NEW_WORDS = ["hawking", "waking", "rotation", "notation"]
LABELS = ["verb", None, None, "verb", None, None, None, None, "verb"]
LABELS += ["noun", None, None, "noun", None, None, None, None, "noun"]

generator = np.random.default_rng(5)
X = np.vstack([generator.normal(size=(12, 3)) - 2, generator.normal(size=(12, 3)) + 2])
Y = np.full(24, -1)
Y[[0, 1, 12, 13]] = [0, 0, 1, 1]


def n_grams(word, n=3):
    padded = f"#{word}#"
    return {padded[i : i + n] for i in range(len(padded) - n + 1)}


def shared_n_grams(a, b):
    """A string kernel of two words: the character n-grams that both have."""
    return float(len(n_grams(a) & n_grams(b)))


def shared_n_grams_matrix(A, B):
    """The same of two lists of words."""
    return np.array([[shared_n_grams(a, b) for b in B] for a in A])


def inner_product(a, b):
    return float(np.dot(a, b)) + 1.0


def inner_products(A, B):
    return A @ B.T + 1.0


# -- which kind of function --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "rows", "takes_pairs"),
    [
        (shared_n_grams, WORDS, True),
        (shared_n_grams_matrix, WORDS, False),
        (inner_product, X, True),
        (inner_products, X, False),
        (linear_kernel, X, False),
        (gaussian_process_kernels.RBF(2.0), X, False),
        (lambda a, b: (a * b).sum(), X[:, :2], True),
        (lambda a, b: np.minimum(a, b).sum(), np.abs(X), True),
    ],
    ids=["words", "word lists", "vectors", "matrices", "scikit-learn", "Gaussian process", "two columns", "histograms"],
)
def test_fit_finds_out_whether_a_function_takes_pairs_or_collections(function, rows, takes_pairs):
    assert CallableKernel(function).fit(rows).takes_pairs_ is takes_pairs


@pytest.mark.parametrize("function", [shared_n_grams, shared_n_grams_matrix])
def test_both_kinds_give_the_same_matrix(function):
    kernel = CallableKernel(function).fit(WORDS)
    np.testing.assert_array_equal(kernel(WORDS), shared_n_grams_matrix(WORDS, WORDS))
    np.testing.assert_array_equal(kernel(NEW_WORDS, WORDS), shared_n_grams_matrix(NEW_WORDS, WORDS))
    np.testing.assert_array_equal(kernel.diag(WORDS), np.diagonal(shared_n_grams_matrix(WORDS, WORDS)))


def test_csr_rows_reach_a_function_as_csr_rows():
    kernel = CallableKernel(lambda A, B: (A @ B.T).toarray()).fit(sparse.csr_array(X))
    np.testing.assert_allclose(kernel(sparse.csr_array(X)), X @ X.T, atol=1e-13)


def kernel_and_its_calls():
    """Return a fitted kernel, and the list that every pair is added to that it asks for from now on."""
    calls = []

    def counting(a, b):
        calls.append((a, b))
        return shared_n_grams(a, b)

    kernel = CallableKernel(counting).fit(WORDS)
    calls.clear()
    return kernel, calls


def test_a_symmetric_function_of_pairs_is_called_once_a_pair():
    kernel, calls = kernel_and_its_calls()
    kernel(WORDS)
    n = len(WORDS)
    assert len(calls) == n * (n + 1) // 2
    assert len({frozenset(pair) for pair in calls}) == len(calls)


def test_new_objects_cost_one_call_for_each_training_object():
    kernel, calls = kernel_and_its_calls()
    kernel(NEW_WORDS, WORDS)
    assert sorted(calls) == sorted((a, b) for a in NEW_WORDS for b in WORDS)


def test_a_fit_calls_the_function_little_more_than_once_a_pair():
    calls = []

    def counting(a, b):
        if isinstance(a, list):
            raise TypeError("one word at a time")
        calls.append((a, b))
        return shared_n_grams(a, b)

    SemiKPCAClassifier(counting).fit(WORDS, LABELS)
    n = len(WORDS)
    assert len(calls) <= n * (n + 1) // 2 + 1


def test_a_matrix_function_is_called_once_for_the_whole_matrix():
    calls = []

    def counting(A, B):
        calls.append((len(A), len(B)))
        return shared_n_grams_matrix(A, B)

    SemiKPCAClassifier(counting).fit(WORDS, LABELS)
    assert calls.count((len(WORDS), len(WORDS))) == 1


# -- words, from end to end --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiLSSVMClassifier])
@pytest.mark.parametrize("function", [shared_n_grams, shared_n_grams_matrix])
def test_words_are_labeled_from_a_few(make, function):
    model = make(function).fit(WORDS, LABELS)
    assert model.transduction_.tolist() == ["verb"] * 9 + ["noun"] * 9
    assert model.predict(NEW_WORDS).tolist() == ["verb", "verb", "noun", "noun"]
    np.testing.assert_allclose(model.decision_function(WORDS), model.decision_, atol=SAME_MATRIX)
    assert model.predict_proba(NEW_WORDS).shape == (4, 2)
    assert model.score(WORDS, ["verb"] * 9 + ["noun"] * 9) == 1


def test_words_give_what_their_matrix_gives():
    K = shared_n_grams_matrix(WORDS, WORDS)
    np.testing.assert_allclose(
        SemiKPCAClassifier(shared_n_grams).fit(WORDS, LABELS).decision_,
        SemiKPCAClassifier("precomputed").fit(K, LABELS).decision_,
        atol=SAME_MATRIX,
    )


def test_labels_of_words_can_be_left_out():
    model = SemiKPCAClassifier(shared_n_grams).fit(WORDS, LABELS)
    left_out = leave_one_label_out(model)
    for position, row in enumerate(left_out.rows):
        without = [None if i == row else label for i, label in enumerate(LABELS)]
        refitted = SemiKPCAClassifier(shared_n_grams).fit(WORDS, without)
        assert left_out.decision[position] == pytest.approx(refitted.decision_[row], abs=SAME_MATRIX)


def test_a_model_of_words_survives_pickling():
    model = SemiKPCAClassifier(shared_n_grams).fit(WORDS, LABELS)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.decision_function(NEW_WORDS), model.decision_function(NEW_WORDS))
    assert loaded.add_labels([1], ["verb"]).predict(NEW_WORDS).tolist() == ["verb", "verb", "noun", "noun"]


def test_words_can_be_projected():
    projections = ConvexKernelPCA(2, shared_n_grams, center=True).fit_transform(WORDS)
    assert projections.shape == (18, 2)
    sides = np.sign(projections[:, 0])
    np.testing.assert_array_equal(sides, sides[0] * np.repeat([1, -1], 9))


def test_objects_have_no_pre_images():
    model = ConvexKernelPCA(2, shared_n_grams).fit(WORDS)
    with pytest.raises(ValueError, match="needs rows that are vectors"):
        model.inverse_transform(np.zeros((1, 2)))


def test_words_can_be_classified_and_regressed_on():
    classes = ["verb"] * 9 + ["noun"] * 9
    assert (
        LSSVMClassifier(shared_n_grams).fit(WORDS, classes).predict(NEW_WORDS).tolist() == ["verb"] * 2 + ["noun"] * 2
    )
    lengths = [float(len(word)) for word in WORDS]
    assert LSSVMRegressor(shared_n_grams).fit(WORDS, lengths).predict(NEW_WORDS).shape == (4,)


@pytest.mark.parametrize(
    "container",
    [
        tuple,
        np.array,
        lambda words: np.array(words, dtype=object),
        pd.Series,
        lambda words: pd.Series(words, dtype=object),
        lambda words: pd.Series(words, index=range(100, 100 + len(words))),
        pd.Index,
        pl.Series,
    ],
    ids=["tuple", "array", "objects", "pandas", "pandas objects", "pandas index", "index", "polars"],
)
def test_words_may_come_in_any_sequence(container):
    expected = SemiKPCAClassifier(shared_n_grams).fit(WORDS, LABELS)
    model = SemiKPCAClassifier(shared_n_grams).fit(container(WORDS), LABELS)
    np.testing.assert_array_equal(model.decision_, expected.decision_)
    assert model.predict(container(NEW_WORDS)).tolist() == ["verb", "verb", "noun", "noun"]


def test_one_string_is_not_taken_for_a_sequence_of_letters():
    with pytest.raises(ValueError, match=r"got one string, 'walking'.*Pass a list of strings"):
        SemiKPCAClassifier(shared_n_grams).fit("walking", LABELS)
    with pytest.raises(ValueError, match=r"got one string, 'hawking'.*Pass a list of strings"):
        SemiKPCAClassifier(shared_n_grams).fit(WORDS, LABELS).predict("hawking")


@pytest.mark.parametrize("wrong", [None, 3], ids=repr)
def test_something_that_is_no_sequence_is_refused_by_value(wrong):
    with pytest.raises(ValueError, match="X must be a sequence of objects") as caught:
        SemiKPCAClassifier(shared_n_grams).fit(wrong, LABELS)
    assert repr(wrong) in str(caught.value)


@pytest.mark.parametrize("words", [[], WORDS[:1]], ids=len)
def test_too_few_objects_are_refused_with_their_number(words):
    with pytest.raises(ValueError, match=rf"Found {len(words)} object.*minimum of 2"):
        SemiKPCAClassifier(shared_n_grams).fit(words, LABELS[: len(words)] or ["verb"])


def test_no_new_objects_are_refused():
    with pytest.raises(ValueError, match=r"Found 0 object.*minimum of 1"):
        SemiKPCAClassifier(shared_n_grams).fit(WORDS, LABELS).predict([])


def test_the_list_of_objects_is_the_models_own():
    words = list(WORDS)
    model = SemiKPCAClassifier(shared_n_grams).fit(words, LABELS)
    before = model.decision_function(NEW_WORDS)
    words.clear()
    np.testing.assert_array_equal(model.decision_function(NEW_WORDS), before)


# -- tables ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [inner_product, inner_products])
@pytest.mark.parametrize(
    "container",
    [
        lambda table: pd.DataFrame(table, columns=["a", "b", "c"]),
        lambda table: pl.DataFrame(table, schema=["a", "b", "c"]),
    ],
    ids=["pandas", "polars"],
)
def test_a_table_reaches_the_function_row_by_row(function, container):
    expected = SemiKPCAClassifier(function).fit(X, Y)
    model = SemiKPCAClassifier(function).fit(container(X), Y)
    np.testing.assert_allclose(model.decision_, expected.decision_, atol=SAME_MATRIX)
    np.testing.assert_allclose(model.decision_function(container(X)), expected.decision_, atol=SAME_MATRIX)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame], ids=["array", "pandas"])
def test_new_rows_of_a_table_need_as_many_features(container):
    model = SemiKPCAClassifier(inner_products).fit(container(X), Y)
    with pytest.raises(ValueError, match=r"2 features.*expecting 3"):
        model.predict(container(X[:, :2]))


def test_new_rows_in_nested_lists_need_as_many_features_too():
    def zipped(a, b):
        return 1.0 + sum(x * y for x, y in zip(a, b, strict=False))

    model = SemiKPCAClassifier(zipped).fit(X, Y)
    with pytest.raises(ValueError, match=r"2 features.*expecting 3"):
        model.predict(X[:, :2].tolist())


@pytest.mark.parametrize("function", [inner_product, inner_products])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_tables_with_values_that_are_not_finite_are_refused(function, value):
    wrong = X.copy()
    wrong[3, 1] = value
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        SemiKPCAClassifier(function).fit(wrong, Y)
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        SemiKPCAClassifier(function).fit(X, Y).predict(wrong)


def test_a_function_of_scikit_learn_gives_what_the_kernel_gives():
    by_function = SemiKPCAClassifier(rbf_kernel).fit(X, Y)
    by_name = SemiKPCAClassifier(RBF(gamma=1 / 3)).fit(X, Y)
    np.testing.assert_allclose(by_function.decision_, by_name.decision_, atol=SAME_MATRIX)


# -- functions that go wrong -------------------------------------------------------------------------------------------


def fit(function, rows=X, y=Y):
    return SemiKPCAClassifier(function).fit(rows, y)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda A, B: np.ones((len(A), 1)), r"\(1, 1\) instead of \(1, 2\)"),
        (lambda A, B: None, r"type object"),
        (lambda a, b: "similar", r"type <U7"),
        (lambda a, b: 1j, r"type complex128"),
        (lambda a, b: [1.0, 2.0, 3.0], r"shape \(3,\)"),
    ],
    ids=["a column", "None", "a string", "a complex number", "a list"],
)
def test_a_function_that_returns_something_else_is_refused_with_what_it_returned(function, said):
    with pytest.raises(ValueError, match=r"must return a matrix.*or a number") as caught:
        fit(function)
    caught.match(said)


def test_a_function_that_fails_is_reported_with_both_errors():
    def broken(a, b):
        raise RuntimeError("no such object")

    with pytest.raises(
        ValueError, match=r"neither on two collections \(RuntimeError: no such object\) nor on two objects"
    ):
        fit(broken)


def test_a_function_of_one_argument_is_refused():
    with pytest.raises(ValueError, match="1 positional argument but 2 were given"):
        fit(lambda a: 1.0)


def test_something_that_cannot_be_called_is_refused_by_value():
    with pytest.raises(TypeError, match="function must be callable, got 3"):
        CallableKernel(3).fit(X)


def test_a_matrix_of_the_wrong_shape_is_refused_with_both_shapes():
    def cut_short(A, B):
        return (A @ B.T)[:1]

    with pytest.raises(ValueError, match=r"returned shape \(1, 24\).*must return \(24, 24\)"):
        fit(cut_short)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused_with_the_pair(value):
    def spoiled(A, B):
        K = A @ B.T
        if len(A) == 24:
            K[3, 5] = value
        return K

    with pytest.raises(ValueError, match=r"objects 3 and 5; kernel values must be finite") as caught:
        fit(spoiled)
    assert str(value) in str(caught.value)


def test_a_pair_function_that_returns_nan_is_refused_with_the_pair():
    with pytest.raises(ValueError, match=r"returned nan for objects 0 and 0"):
        fit(lambda a, b: float("nan") if np.ndim(a) == 1 else None)


def test_new_objects_with_values_that_are_not_finite_are_refused():
    model = fit(lambda A, B: np.where(A[:, :1] > 50, np.nan, A @ B.T + 1))
    with pytest.raises(ValueError, match="kernel values must be finite"):
        model.predict(np.array([[100.0, 0.0, 0.0]]))


def test_a_matrix_of_strings_is_refused_as_such():
    with pytest.raises(ValueError, match=r"kernel function.*(<U|str)"):
        fit(lambda A, B: np.full((len(A), len(B)), "similar"))


def test_a_matrix_of_complex_numbers_is_refused_as_such():
    with pytest.raises(ValueError, match=r"kernel function.*complex"):
        fit(lambda A, B: (A @ B.T).astype(complex))


@pytest.mark.parametrize("late", ["similar", [1.0, 2.0], None], ids=repr)
def test_a_pair_function_that_changes_its_answer_is_refused_as_such(late):
    def sometimes(a, b):
        if np.ndim(a) == 2:
            raise TypeError("one row at a time")
        return late if np.array_equal(a, X[7]) else float(a @ b)

    with pytest.raises(ValueError, match="kernel function"):
        fit(sometimes)


@pytest.mark.parametrize(
    "function",
    [lambda A, B: A @ B.T + np.arange(len(B)), lambda A, B: np.exp(A[:, :1] - B[:, 0])],
    ids=["one side", "a ratio"],
)
@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiLSSVMClassifier])
def test_a_matrix_function_that_is_not_symmetric_is_refused(make, function):
    with pytest.raises(ValueError, match="symmetric"):
        make(function).fit(X, Y)


@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiLSSVMClassifier, ConvexKernelPCA])
def test_an_indefinite_function_is_refused_with_how_negative_it_is(make):
    def distances(A, B):
        return np.sqrt(((A[:, np.newaxis] - B) ** 2).sum(axis=2))

    smallest = np.linalg.eigvalsh(distances(X, X))[0]
    with pytest.raises(IndefiniteKernelError, match="Use a positive semi-definite kernel") as caught:
        make(kernel=distances).fit(X, Y)
    assert f"{smallest:.6g}" in str(caught.value)


def test_a_function_that_is_zero_everywhere_is_not_called_indefinite():
    with pytest.raises(ValueError, match="rank 0"):
        fit(lambda a, b: 0.0)


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, np.int64, bool])
def test_other_types_of_numbers_are_computed_with_as_float64(dtype):
    kernel = CallableKernel(lambda A, B: (A @ B.T > 0).astype(dtype)).fit(X)
    assert kernel(X).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_floats_keep_their_type(dtype):
    assert CallableKernel(linear_kernel).fit(X.astype(dtype))(X.astype(dtype)).dtype == dtype


def test_a_matrix_that_the_function_keeps_is_not_overwritten():
    kept = X @ X.T

    def remembered(A, B):
        return kept[: len(A), : len(B)]

    before = kept.copy()
    CallableKernel(remembered).fit(X)(X)[:] = 0
    np.testing.assert_array_equal(kept, before)


def test_an_unfitted_kernel_says_so():
    with pytest.raises(NotFittedError, match=r"fit\("):
        CallableKernel(shared_n_grams).pairwise(WORDS, WORDS)


def test_a_clone_keeps_the_function_and_forgets_the_fit():
    kernel = clone(CallableKernel(shared_n_grams).fit(WORDS))
    assert kernel.function is shared_n_grams
    assert not hasattr(kernel, "takes_pairs_")
