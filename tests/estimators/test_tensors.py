"""Torch tensors as rows: what is refused is refused as scikit-learn refuses arrays, in words that name the remedy."""

import numpy as np
import pytest

from semikpca import ConvexKernelPCA, SemiKPCAClassifier
from semikpca.kernels import RBF

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'semikpca[gpu]'")

X = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
y = np.where(np.arange(30) < 6, np.arange(30) % 2, -1)


def model():
    return SemiKPCAClassifier(RBF(0.5), backend="torch")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (torch.zeros(30), "Expected 2D tensor, got 1D tensor"),
        (torch.zeros((1, 3)), r"1 sample\(s\) while a minimum of 2"),
        (torch.full((30, 3), float("nan")), "NaN or infinity. Drop such rows"),
        (torch.full((30, 3), float("inf")), "NaN or infinity"),
    ],
)
def test_rows_that_cannot_be_learned_from_are_refused(rows, words):
    with pytest.raises(ValueError, match=words):
        model().fit(rows, y[: len(rows)])


def test_new_rows_with_other_features_are_refused_by_their_number():
    fitted = model().fit(torch.from_numpy(X), y)
    with pytest.raises(ValueError, match="X has 2 features, but SemiKPCAClassifier is expecting 3"):
        fitted.predict(torch.zeros((4, 2)))
    assert len(fitted.predict(torch.zeros((1, 3)))) == 1


def test_whole_numbers_are_taken_as_numbers():
    whole = np.round(4 * X)
    of_integers = model().fit(torch.from_numpy(whole.astype(np.int64)), y)
    of_floats = model().fit(torch.from_numpy(whole), y)
    np.testing.assert_array_equal(np.asarray(of_integers.decision_), np.asarray(of_floats.decision_))


def test_rows_that_the_caller_changes_later_do_not_change_the_model():
    rows = torch.from_numpy(X.copy())
    fitted = model().fit(rows, y)
    before = np.asarray(fitted.predict(torch.from_numpy(X))).copy()
    rows.zero_()
    np.testing.assert_array_equal(np.asarray(fitted.predict(torch.from_numpy(X))), before)


def test_an_estimator_that_takes_arrays_alone_says_what_to_pass():
    with pytest.raises(ValueError, match=r"does not take torch tensors. Pass X.cpu\(\).numpy\(\)"):
        ConvexKernelPCA().fit(torch.from_numpy(X))


def test_labels_that_are_texts_come_back_as_texts_and_decisions_as_tensors():
    names = np.array(["no", "yes", None], dtype=object)[y]
    fitted, of_numbers = (model().fit(torch.from_numpy(X), labels) for labels in (names, y))
    assert isinstance(fitted.decision_, torch.Tensor)
    assert isinstance(of_numbers.transduction_, torch.Tensor)
    np.testing.assert_array_equal(fitted.transduction_, np.array(["no", "yes"])[np.asarray(of_numbers.transduction_)])
    np.testing.assert_array_equal(fitted.predict(torch.from_numpy(X)), fitted.transduction_)
