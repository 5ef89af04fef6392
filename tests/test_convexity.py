"""The convexity certificate: the interval, the units of the error weight, and the errors that go with them."""

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest

from semikpca import ConvexKernelPCA, SemiKPCAClassifier
from semikpca.convexity import ConvexityCertificate, Regime
from semikpca.exceptions import (
    DegenerateSpectrumWarning,
    IndefiniteKernelError,
    IndistinguishableRowsError,
    KernelRankError,
    SingleClassWarning,
    UnboundedProblemError,
)

# Certificates hold eigenvalues that another LAPACK call of ours repeats; only rounding may differ.
ROUNDING = 1e-12
# numpy.linalg.cond of a system, and a difference of eigenvalues, lose digits: a factor of a hundred or two.
CONDITION_TOLERANCE = 1e-9

EIGENVALUES = (8.0, 4.0, 1.0)

BAD_WEIGHTS = [0, 0.0, -1, -0.5, math.nan, math.inf, -math.inf, True, False, None, [0.5], 1j, np.bool_(True)]
BAD_NAMES = ["big", "", "Middle", "0.5"]


def interval(k, uncertainty=0.0):
    return ConvexityCertificate(
        n_components_removed=k,
        next_eigenvalue=EIGENVALUES[k],
        eigenvalues=EIGENVALUES[: k + 1],
        uncertainty=uncertainty,
    )


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(11)
    X = generator.normal(size=(30, 3))
    y = np.full(30, -1)
    y[:4] = [0, 1, 0, 1]
    # The median rule of the paper, written out.
    squared = ((X[:, np.newaxis] - X) ** 2).sum(axis=2)
    median = np.median(np.sqrt(squared[np.triu_indices(30, k=1)]))
    return X, y, np.exp(-squared / (2 * median**2))


# -- resolve -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2])
def test_the_middle_lies_between_two_bounds_on_a_logarithmic_scale(k):
    certificate = interval(k)
    weight = certificate.resolve("middle")
    assert weight == pytest.approx(1 / math.sqrt(EIGENVALUES[k - 1] * EIGENVALUES[k]), rel=ROUNDING)
    assert certificate.at(weight).relative_weight == pytest.approx(
        math.sqrt(EIGENVALUES[k] / EIGENVALUES[k - 1]), rel=ROUNDING
    )
    lower, upper = 1 / EIGENVALUES[k - 1], 1 / EIGENVALUES[k]
    assert math.log(weight) == pytest.approx((math.log(lower) + math.log(upper)) / 2, rel=ROUNDING)


def test_the_middle_is_half_of_the_bound_where_nothing_is_removed():
    assert interval(0).resolve("middle") == 0.5 / EIGENVALUES[0]


@pytest.mark.parametrize("unit", ["relative", "absolute"])
def test_the_middle_does_not_depend_on_the_unit(unit):
    assert interval(1).resolve("middle", unit) == interval(1).resolve("middle")


def test_the_middle_without_the_removed_eigenvalues_is_refused_with_the_reason():
    # The interval of a certificate made by hand is known, but where it begins is not.
    with pytest.raises(ValueError, match="eigenvalues"):
        ConvexityCertificate(n_components_removed=1, next_eigenvalue=4.0).resolve("middle")


@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("share", [1e-6, 0.5, 0.999, np.float32(0.25)])
def test_a_relative_weight_counts_in_multiples_of_the_bound(k, share):
    assert interval(k).resolve(share) == pytest.approx(float(share) / EIGENVALUES[k], rel=ROUNDING)
    assert interval(k).resolve(share, "relative") == interval(k).resolve(share)


@pytest.mark.parametrize("weight", [0.01, 0.2, np.float64(0.125)])
def test_an_absolute_weight_is_taken_as_it_stands(weight):
    assert interval(1).resolve(weight, "absolute") == weight


def test_a_whole_number_may_be_a_weight():
    assert ConvexityCertificate(n_components_removed=0, next_eigenvalue=0.1).resolve(3, "absolute") == 3.0


def test_the_weight_comes_back_as_a_plain_number():
    assert type(interval(1).resolve(np.float32(0.5))) is float


@pytest.mark.parametrize("weight", BAD_WEIGHTS, ids=repr)
@pytest.mark.parametrize("unit", ["relative", "absolute"])
def test_what_is_no_positive_number_is_refused(weight, unit):
    with pytest.raises(ValueError, match="error_weight must be a positive, finite number") as caught:
        interval(1).resolve(weight, unit)
    assert repr(weight) in str(caught.value)


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_other_than_middle_is_refused(name):
    with pytest.raises(ValueError, match="'middle' or a positive number") as caught:
        interval(1).resolve(name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("unit", ["percent", "", None, "Relative"])
def test_an_unknown_unit_is_refused(unit):
    with pytest.raises(ValueError, match="must be 'relative' or 'absolute'") as caught:
        interval(1).resolve(0.5, unit)
    assert repr(unit) in str(caught.value)


@pytest.mark.parametrize("share", [1, 1.0, 1 + 1e-15, 2.0, 1e300])
def test_a_relative_weight_of_one_or_more_is_refused_with_the_numbers(share):
    with pytest.raises(UnboundedProblemError) as caught:
        interval(1).resolve(share)
    assert caught.value.error_weight == pytest.approx(share / EIGENVALUES[1], rel=ROUNDING)
    assert caught.value.error_weight_max == 1 / EIGENVALUES[1]
    assert caught.value.n_components_removed == 1


def test_an_absolute_weight_at_the_bound_is_refused_and_the_one_before_is_not():
    bound = 1 / EIGENVALUES[1]
    assert interval(1).resolve(np.nextafter(bound, 0), "absolute") < bound
    with pytest.raises(UnboundedProblemError):
        interval(1).resolve(bound, "absolute")


def test_the_classifier_passes_on_what_is_wrong_with_a_weight(data):
    X, y, _ = data
    for weight in BAD_WEIGHTS + BAD_NAMES:
        with pytest.raises(ValueError, match="error_weight"):
            SemiKPCAClassifier(error_weight=weight).fit(X, y)
    with pytest.raises(ValueError, match="error_weight_unit"):
        SemiKPCAClassifier(error_weight_unit="percent").fit(X, y)


# -- regimes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "regime"), [(0.999, Regime.TRIVIAL), (1.0, Regime.SUBSPACE), (1.001, Regime.UNBOUNDED)]
)
@pytest.mark.parametrize("k", [0, 1, 2])
def test_the_regime_says_on_which_side_of_the_bound_a_weight_is(k, share, regime):
    assert interval(k).regime_of(share / EIGENVALUES[k]) is regime
    assert interval(k).at(share / EIGENVALUES[k]).regime is regime


@pytest.mark.parametrize(
    ("share", "regime"),
    [
        (0.98, Regime.TRIVIAL),
        (0.995, Regime.SUBSPACE),
        (1.0, Regime.SUBSPACE),
        (1.005, Regime.SUBSPACE),
        (1.02, Regime.UNBOUNDED),
    ],
)
def test_within_the_uncertainty_a_weight_counts_as_at_the_bound(share, regime):
    certificate = interval(1, uncertainty=0.01 * EIGENVALUES[1])
    assert certificate.regime_of(share / EIGENVALUES[1]) is regime


def test_the_uncertainty_is_taken_off_the_bound():
    assert interval(1, uncertainty=0.5).error_weight_max == pytest.approx(1 / 4.5, rel=ROUNDING)


@pytest.mark.parametrize("weight", [*BAD_WEIGHTS, "middle", "big"], ids=repr)
def test_only_positive_numbers_have_a_regime(weight):
    with pytest.raises(ValueError, match="positive, finite number"):
        interval(1).regime_of(weight)


def test_only_below_the_bound_there_is_one_solution():
    assert [regime.has_unique_solution for regime in (Regime.TRIVIAL, Regime.SUBSPACE, Regime.UNBOUNDED)] == [
        True,
        False,
        False,
    ]


# -- the attributes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, 1, 2, 5])
@pytest.mark.parametrize("share", [0.3, 0.99])
def test_the_certificate_of_a_fit_agrees_with_numpy(data, k, share):
    X, y, K = data
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1], vectors[:, ::-1]
    model = SemiKPCAClassifier(n_components_removed=k, error_weight=share).fit(X, y)
    certificate = model.certificate_
    assert certificate.n_components_removed == k
    np.testing.assert_allclose(certificate.eigenvalues, values[: k + 1], rtol=ROUNDING)
    np.testing.assert_allclose(model.eigenvalues_, values[: k + 1], rtol=ROUNDING)
    assert certificate.error_weight_max == pytest.approx(1 / values[k], rel=ROUNDING)
    assert certificate.error_weight == pytest.approx(share / values[k], rel=ROUNDING)
    assert certificate.error_weight == model.error_weight_
    assert certificate.relative_weight == pytest.approx(share, rel=ROUNDING)
    assert certificate.is_estimate is False
    assert certificate.regime is Regime.TRIVIAL
    expected_gap = values[k - 1] - values[k] if k else math.inf
    assert certificate.gap == pytest.approx(expected_gap, rel=CONDITION_TOLERANCE)

    deflated = K - (vectors[:, :k] * values[:k]) @ vectors[:, :k].T
    condition = np.linalg.cond(np.eye(len(K)) / model.error_weight_ - deflated)
    if k:
        assert certificate.condition_number == pytest.approx(condition, rel=CONDITION_TOLERANCE)
    else:
        # With nothing removed the largest eigenvalue of the system is 1/γ − λn, a little below 1/γ.
        assert condition <= certificate.condition_number * (1 + CONDITION_TOLERANCE)
        # Rounding of λ1 counts 1 / (1 − share) times here.
        assert certificate.condition_number == pytest.approx(1 / (1 - share), rel=CONDITION_TOLERANCE)


def test_a_kernel_pca_gives_the_same_interval_as_the_classifier(data):
    X, y, _ = data
    for k in (0, 1, 3):
        fitted = SemiKPCAClassifier(n_components_removed=k, error_weight=0.5).fit(X, y).certificate_
        assert ConvexKernelPCA().fit(X).certificate(k).at(fitted.error_weight) == fitted


@pytest.mark.parametrize("share", [1.0, 1.5])
def test_without_a_definite_system_the_condition_number_is_infinite(share):
    assert interval(1).at(share / EIGENVALUES[1]).condition_number == math.inf


def test_an_interval_without_a_weight_says_so():
    certificate = interval(1)
    assert certificate.error_weight is None
    for attribute in ("relative_weight", "condition_number", "regime"):
        with pytest.raises(ValueError, match="no error weight was chosen"):
            getattr(certificate, attribute)


def test_a_certificate_cannot_be_changed():
    certificate = interval(1).at(0.1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        certificate.error_weight = 0.2


def test_choosing_a_weight_leaves_the_interval_as_it_was():
    certificate = interval(1)
    assert certificate.at(0.1).error_weight == 0.1
    assert certificate.error_weight is None


def test_the_gap_is_infinite_where_nothing_is_removed():
    assert interval(0).gap == math.inf
    assert interval(2).gap == EIGENVALUES[1] - EIGENVALUES[2]


# -- as text -----------------------------------------------------------------------------------------------------


def test_a_certificate_prints_as_a_short_block_with_its_numbers():
    lines = str(interval(1).at(0.2)).splitlines()
    assert lines[0] == "Convexity certificate (exact)"
    text = {" ".join(line.split()[:-1]): line.split()[-1] for line in lines[1:4]}
    assert text["components removed"] == "1"
    assert "8, 4" in lines[2]
    assert lines[3].split()[-1] == "4"
    assert lines[4].split() == ["error", "weight", "below", "0.25"]
    assert lines[5].split() == ["error", "weight", "0.2", "(80.0%", "of", "the", "bound)"]
    assert lines[6].split() == ["condition", "number", "5"]
    assert "one solution" in lines[7]
    assert len(lines) == 8
    assert max(map(len, lines)) < 80


def test_an_interval_prints_without_what_it_does_not_know():
    text = str(interval(1))
    assert "error weight below     0.25" in text
    assert "condition number" not in text
    assert "regime" not in text


def test_an_estimate_is_called_one():
    estimate = dataclasses.replace(interval(1), is_estimate=True)
    assert str(estimate).startswith("Convexity certificate (estimate)")


@pytest.mark.parametrize(("share", "meaning"), [(1.0, "at the bound"), (1.5, "unbounded, no solution")])
def test_the_text_says_when_there_is_no_solution(share, meaning):
    assert meaning in str(interval(1).at(share / EIGENVALUES[1]))


def test_many_eigenvalues_are_shortened():
    values = tuple(float(value) for value in range(40, 0, -1))
    certificate = ConvexityCertificate(n_components_removed=39, next_eigenvalue=1.0, eigenvalues=values)
    line = str(certificate).splitlines()[2]
    assert line.endswith("40, 39, 38, 37, 36, 35, … 1")


# -- errors and warnings travel ----------------------------------------------------------------------------------

CARRIERS = [
    (UnboundedProblemError(0.5, 0.25, 3), {"error_weight": 0.5, "error_weight_max": 0.25, "n_components_removed": 3}),
    (KernelRankError(4, 5, 3, 20), {"requested": 4, "removed": 5, "rank": 3, "n_samples": 20}),
    (KernelRankError(1, 3, 3, 20), {"requested": 1, "removed": 3, "rank": 3, "n_samples": 20}),
    (IndistinguishableRowsError(20), {"n_samples": 20}),
    (IndefiniteKernelError(-0.125, 8.0), {"smallest_eigenvalue": -0.125, "largest_eigenvalue": 8.0}),
    (DegenerateSpectrumWarning(1, 3, 2.5), {"requested": 1, "removed": 3, "eigenvalue": 2.5}),
]


@pytest.mark.parametrize(("carrier", "numbers"), CARRIERS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("travel", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_an_error_arrives_with_its_numbers_and_its_message(carrier, numbers, travel):
    arrived = travel(carrier)
    assert type(arrived) is type(carrier)
    assert {name: getattr(arrived, name) for name in numbers} == numbers
    assert str(arrived) == str(carrier)
    assert arrived.args == carrier.args


@pytest.mark.parametrize(("carrier", "numbers"), CARRIERS, ids=lambda value: type(value).__name__)
def test_the_message_shows_the_numbers(carrier, numbers):
    shown = [value for name, value in numbers.items() if not (type(carrier) is KernelRankError and name == "removed")]
    for value in shown:
        assert f"{value:g}" in str(carrier)


def test_errors_can_be_caught_as_value_errors_and_warnings_as_user_warnings():
    for error in (UnboundedProblemError, KernelRankError, IndefiniteKernelError):
        assert issubclass(error, ValueError)
    for warning in (DegenerateSpectrumWarning, SingleClassWarning):
        assert issubclass(warning, UserWarning)


def test_a_certificate_survives_pickling():
    certificate = interval(2, uncertainty=1e-9).at(0.3)
    assert pickle.loads(pickle.dumps(certificate)) == certificate


def test_the_message_of_an_unbounded_problem_says_what_to_do():
    text = str(UnboundedProblemError(0.5, 0.25, 1))
    assert "must stay below 0.25" in text
    assert "remove more components" in text
    assert "Lower error_weight" in text
