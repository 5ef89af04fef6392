"""Any labels at all: fits whose answers are right, or a refusal that says what is wrong."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from numbers import Real

import numpy as np
import pandas as pd

from fuzz.judging import REFUSALS, Choices, no_warnings, refusal
from oracles import algorithm_1, entrywise, naive_rbf
from semikpca import LSSVMClassifier, SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.kernels import RBF

MOST_ROWS = 24
ROWS = np.random.default_rng(7).standard_normal((MOST_ROWS, 3))
GAMMA = 0.3
MATRIX = entrywise(naive_rbf(GAMMA), ROWS, ROWS)
# A Cholesky solve of 24 equations with condition number below 1e2, and another one beside it.
SAME_TO_ROUNDING = 1e-9

# What someone, or some program, may have put into a column of labels.
LABELS = [
    *(0, 1, 2, 3, -1, "a", "b", "c", None, math.nan),
    *(True, False, np.True_, -1.0, np.int8(-1), np.uint8(255), np.float32(1.5), np.str_("a"), np.float64("nan")),
    *("", " ", "a\0", "é", "-1", "nan", "None", "x" * 300, "\ud800", b"a", b"a\0", b""),
    *(1.5, 0.1, math.inf, -math.inf, 1e308, 5e-324, -0.0),
    *(2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, -(2**63), 2**64, 10**400),
    *(Fraction(1, 2), Fraction(-1), Decimal("1"), Decimal("NaN"), Decimal("sNaN"), 1j, complex("nan")),
    *(datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), datetime.timedelta(1)),
    *(np.datetime64("2020-01-01"), np.datetime64("NaT"), np.timedelta64(1, "s"), pd.NA, pd.NaT, pd.Timestamp(0)),
    *((1, 2), (), [1], [1, 2], [], {}, {"a": 1}, frozenset({1}), np.array([1]), np.array(1), np.array([])),
    *(int, len, Ellipsis, NotImplemented, range(2), slice(1)),
]


def _typed(labels):
    return np.array(labels)


def _objects(labels):
    array = np.empty(len(labels), dtype=object)
    for place, label in enumerate(labels):
        array[place] = label
    return array


CONTAINERS = {
    "a list": list,
    "an array": _typed,
    "an array of objects": _objects,
    "a tuple": tuple,
    "a series": lambda labels: pd.Series(_objects(labels)),
    "a typed series": lambda labels: pd.Series(labels),
    "a column": lambda labels: _objects(labels)[:, np.newaxis],
    "a list of lists": lambda labels: [[label] for label in labels],
    "two columns": lambda labels: np.column_stack([_objects(labels), _objects(labels)]),
    "categories": lambda labels: pd.Series(labels).astype("category"),
    "text": lambda labels: pd.Series(labels).astype("string"),
    "whole numbers with gaps": lambda labels: pd.Series(labels).astype("Int64"),
    "short numbers": lambda labels: np.array(labels).astype(np.int8),
    "halves": lambda labels: np.array(labels).astype(np.float16),
    "fixed text": lambda labels: np.array(labels).astype("U3"),
    "a frame": lambda labels: pd.DataFrame({"y": labels}),
    "a read-only array": lambda labels: np.frombuffer(np.array(labels)),
    "one value": lambda labels: labels[0] if labels else 0,
    "a dict": lambda labels: dict(enumerate(labels)),
    "an iterator": iter,
    "an empty matrix": lambda labels: np.empty((len(labels), 0)),
}


def contained(container, labels):
    """Return labels in a container, or None where the container itself does not take them."""
    try:
        with no_warnings():
            return CONTAINERS[container](labels)
    except Exception:  # of NumPy and pandas, before the package has seen anything
        return None


def decoded(data):
    """Return a container of labels, and the number of rows that go with it, from bytes."""
    choices = Choices(data)
    container, surplus = choices.one_of(list(CONTAINERS)), choices.one_of([0] * 15 + [1])
    labels = [choices.one_of(LABELS) for _ in range(min(len(choices), MOST_ROWS))]
    return contained(container, labels), min(len(labels) + surplus, MOST_ROWS)


def judge(data):
    """Return how each model ends with the labels that the bytes stand for."""
    y, n_rows = decoded(data)
    return "no labels" if y is None else judged(y, n_rows)


def judged(y, n_rows):
    """Return "answered", or the message of the refusal, for each model; raise where the answer is wrong."""
    return {model.__class__.__name__: _ended(model, y, n_rows) for model in _models()}


def _models():
    kernel = RBF(gamma=GAMMA)
    return SemiKPCAClassifier(kernel), LSSVMClassifier(kernel), SemiKPCAClassifierCV(kernels=[kernel])


def _ended(model, y, n_rows):
    X = ROWS[:n_rows]
    try:
        with no_warnings():
            model.fit(X, y)
            chances = model.predict_proba(X)
    except REFUSALS as error:
        return refusal(error)
    given = naive_reading(y, minus_one_is_a_class=isinstance(model, LSSVMClassifier))
    assert len(given) == n_rows, "a fit with a label too many or too few"
    classes = model.classes_.tolist()
    assert set(classes) == {label for label in given if label is not None}
    assert len(set(classes)) == len(classes)
    assert np.isfinite(model.decision_).all()
    assert model.decision_.shape == ((n_rows, len(classes)) if len(classes) > 2 else (n_rows,))
    assert chances.shape == (n_rows, len(classes))
    assert np.allclose(chances.sum(axis=1), 1)
    assert (chances >= 0).all()
    assert set(model.predict(X).tolist()) <= set(classes)
    if isinstance(model, SemiKPCAClassifier):
        _hold_to_algorithm_1(model, given, classes)
    return "answered"


def _hold_to_algorithm_1(model, given, classes):
    certificate = model.certificate_
    assert 0 < certificate.error_weight < certificate.error_weight_max
    assert certificate.regime.has_unique_solution
    targets = naive_targets(given, classes)
    wanted, _, _ = algorithm_1(MATRIX[: len(given), : len(given)], targets, 1, model.error_weight_)
    error = np.abs(model.alpha_.reshape(wanted.shape) - wanted).max()
    assert error <= SAME_TO_ROUNDING * np.abs(wanted).max(), f"α is off by {error:.3g}"


def naive_reading(y, *, minus_one_is_a_class=False):
    """Return a list of labels, None where there is none: by the words of the documentation."""
    values = [*y] if isinstance(y, list | tuple) else np.asarray(y).reshape(-1).tolist()
    if values and all(isinstance(value, list | tuple) and len(value) == 1 for value in values):
        values = np.array(values, dtype=object).reshape(-1).tolist()  # a column
    values = [value.item() if isinstance(value, np.generic | np.ndarray) else value for value in values]
    given = [None if _is_none(value) else value for value in values]
    if minus_one_is_a_class or any(value is None for value in given):
        return given
    return [None if _is_minus_one(value) else value for value in given]


def naive_targets(given, classes):
    """Return one ±1 column for two classes or one, positive for the last, and otherwise one for each class."""
    positives = classes if len(classes) > 2 else classes[-1:]
    return np.array([[0.0 if g is None else 1.0 if g == p else -1.0 for p in positives] for g in given])


def _is_none(value):
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, Real) and value != value)


def _is_minus_one(value):
    return isinstance(value, Real) and not isinstance(value, bool) and value == -1
