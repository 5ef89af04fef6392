"""A splitter that keeps unlabeled rows in training, and a scorer that passes over them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.semi_supervised import LabelSpreading

from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.model_selection import LabeledKFold, labeled_scorer


@pytest.fixture
def blobs():
    X, truth = make_blobs(60, centers=3, cluster_std=1.5, random_state=0)
    y = np.where(np.arange(60) % 3 == 0, truth, -1)
    return X, y, truth


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("n_splits", [2, 5, 20])
def test_every_label_is_held_out_once_and_unlabeled_rows_always_train(blobs, n_splits, shuffle):
    X, y, _ = blobs
    held_out = []
    for train, test in LabeledKFold(n_splits, shuffle=shuffle, random_state=0 if shuffle else None).split(X, y):
        assert set(np.flatnonzero(y == -1)) <= set(train)
        assert not set(train) & set(test)
        assert len(train) + len(test) == len(y)
        held_out += test.tolist()
    assert sorted(held_out) == np.flatnonzero(y != -1).tolist()


def test_each_class_spreads_over_the_folds(blobs):
    X, y, _ = blobs
    for _, test in LabeledKFold(3).split(X, y):
        counts = np.bincount(y[test], minlength=3)
        in_all = np.bincount(y[y != -1], minlength=3)
        assert (counts >= in_all // 3).all()
        assert (counts <= -(-in_all // 3)).all()


def test_the_only_label_of_a_class_is_never_held_out():
    y = np.array([0, 0, 0, 1, -1, 2, 2])
    tests = [test for _, test in LabeledKFold(2).split(np.zeros((7, 1)), y)]
    assert 3 not in np.concatenate(tests)
    assert sorted(np.concatenate(tests)) == [0, 1, 2, 5, 6]


def test_labels_may_be_strings_with_none():
    y = ["a", None, "b", "a", None, "b"]
    tests = [test.tolist() for _, test in LabeledKFold(2).split(np.zeros((6, 1)), y)]
    assert tests == [[0, 2], [3, 5]]


def test_shuffling_follows_the_seed(blobs):
    X, y, _ = blobs

    def folds(seed):
        return [test.tolist() for _, test in LabeledKFold(4, shuffle=True, random_state=seed).split(X, y)]

    assert folds(0) == folds(0)
    assert folds(0) != folds(1)


@pytest.mark.parametrize(
    ("splitter", "y", "message"),
    [
        (LabeledKFold(1), [0, 0, 1, 1], "n_splits must be a whole number, 2 or more, got 1"),
        (LabeledKFold(2.5), [0, 0, 1, 1], "n_splits must be a whole number, 2 or more, got 2.5"),
        (LabeledKFold(5), [0, 0, 1, 1, -1, -1], "5 folds need as many labels .* there are 4 .*Use fewer folds"),
        (LabeledKFold(2), [0, 1, -1, -1], "there are 0 .*give more labels"),
        (LabeledKFold(2), [-1, -1, -1, -1], "No label is given"),
        (LabeledKFold(2), None, "give y"),
    ],
)
def test_a_split_that_cannot_be_made_says_what_is_missing(splitter, y, message):
    with pytest.raises(ValueError, match=message):
        list(splitter.split(np.zeros((len(y or [0] * 4), 1)), y))


@pytest.mark.parametrize("estimator", [SemiKPCAClassifier(), LabelSpreading()], ids=["ours", "scikit-learn's"])
def test_a_grid_search_scores_held_out_labels_as_a_loop_does(blobs, estimator):
    X, y, _ = blobs
    parameter = "kernel__gamma" if hasattr(estimator, "error_weight") else "gamma"
    if hasattr(estimator, "error_weight"):
        from semikpca.kernels import RBF

        estimator.set_params(kernel=RBF(gamma=1.0))
    splitter = LabeledKFold(4)
    search = GridSearchCV(estimator, {parameter: [0.01, 1.0]}, cv=splitter, scoring="accuracy").fit(X, y)
    for place, gamma in enumerate([0.01, 1.0]):
        estimator.set_params(**{parameter: gamma})
        scores = []
        for train, test in splitter.split(X, y):
            predicted = estimator.fit(X[train], y[train]).predict(X[test])
            scores.append(accuracy_score(y[test], predicted))
        assert search.cv_results_["mean_test_score"][place] == pytest.approx(np.mean(scores), abs=1e-12)


def test_a_scorer_passes_over_unlabeled_rows_of_a_plain_splitter(blobs):
    X, y, _ = blobs
    model = SemiKPCAClassifier()
    found = cross_val_score(model, X, y, cv=KFold(3), scoring=labeled_scorer("balanced_accuracy"))
    for score, (train, test) in zip(found, KFold(3).split(X), strict=True):
        labeled = test[y[test] != -1]
        predicted = model.fit(X[train], y[train]).predict(X[labeled])
        assert score == pytest.approx(balanced_accuracy_score(y[labeled], predicted), abs=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, pd.DataFrame, list], ids=lambda make: make.__name__)
def test_a_scorer_takes_all_kinds_of_rows(blobs, make):
    X, y, truth = blobs
    model = SemiKPCAClassifier().fit(X, y)
    model.__dict__.pop("feature_names_in_", None)
    rows = make(X) if make is not pd.DataFrame else pd.DataFrame(X)
    expected = np.mean(model.predict(X[y != -1]) == truth[y != -1])
    assert labeled_scorer()(model, rows, y) == pytest.approx(expected, abs=1e-12)


def test_scoring_without_any_label_says_so(blobs):
    X, y, _ = blobs
    model = SemiKPCAClassifier().fit(X, y)
    with pytest.raises(ValueError, match="No label is given"):
        labeled_scorer()(model, X[:2], [-1, -1])


# What people write with labels in words: each mark of an unlabeled row, and y as an array, a list or a series.
IN_WORDS = {
    "None": lambda words: words,
    "a list": list,
    "NaN": lambda words: pd.Series(words).where(pd.notna(words), np.nan),
    "pandas.NA": lambda words: pd.Series(words, dtype="string"),
}


@pytest.fixture(params=list(IN_WORDS))
def words(request, blobs):
    _, y, _ = blobs
    return IN_WORDS[request.param](np.where(y == -1, None, np.array(["ant", "bee", "cow"], dtype=object)[y]))


@pytest.mark.parametrize(
    "options",
    [
        {"cv": LabeledKFold(3)},
        {"cv": LabeledKFold(3), "scoring": "accuracy"},
        {"cv": LabeledKFold(3), "scoring": "f1_macro"},
        {"cv": KFold(3), "scoring": labeled_scorer("balanced_accuracy")},
    ],
    ids=["nothing said of the score", "accuracy", "f1", "plain folds with our scorer"],
)
def test_labels_in_words_are_cross_validated(blobs, words, options):
    scores = cross_val_score(SemiKPCAClassifier(), blobs[0], words, error_score="raise", **options)
    assert scores.mean() > 0.7


def test_several_scores_and_those_of_training_take_labels_in_words(blobs, words):
    scoring = {"accuracy": labeled_scorer(), "f1": labeled_scorer("f1_macro")}
    options = {"cv": LabeledKFold(3), "scoring": scoring, "return_train_score": True, "error_score": "raise"}
    found = cross_validate(SemiKPCAClassifier(), blobs[0], words, **options)
    assert all(len(found[f"{part}_{name}"]) == 3 for part in ("train", "test") for name in scoring)


def test_a_grid_search_takes_labels_in_words(blobs, words):
    X, _, truth = blobs
    grid = {"combine": ["ensemble", "best"]}
    search = GridSearchCV(SemiKPCAClassifierCV(), grid, cv=LabeledKFold(2), error_score="raise").fit(X, words)
    found = np.array(["ant", "bee", "cow"])[truth]
    assert np.mean(search.best_estimator_.transduction_ == found) > 0.7
