"""Losses that come in: the parameters of ours, and everything that the theorem asks for of those of others."""

from typing import Any

import numpy as np
from sklearn.base import clone

from semikpca._numbers import is_positive_number
from semikpca._typing import FloatArray
from semikpca.arrays import to_numpy
from semikpca.losses._base import Loss
from semikpca.losses._own import LogCosh, PseudoHuber, Squared

_OWN_LOSSES: tuple[type[Loss], ...] = (Squared, PseudoHuber, LogCosh)
# Where a loss is looked at: errors of targets of ±1 are of the size of 1, those of numbers may be far larger. The odd
# factor keeps the points off round numbers, at which a loss that is made of pieces has its joints.
_ERRORS = 1.0137 * np.concatenate([-np.geomspace(1e-3, 1e3, 61)[::-1], np.geomspace(1e-3, 1e3, 61)])
# A central difference with a step of 1e-5 of the error is off by 1e-10 of a smooth function, and by rounding over the
# step, 1e-11; a wrong derivative is off by far more than a thousandth.
_STEP, _FROM_DIFFERENCES = 1e-5, 1e-4
_ROUNDING = 1e-9
# ρ′ at these two errors may differ by no more than a tenth, if it has a bound; a logarithm has doubled in between.
_FAR, _FARTHER, _MOST_GROWTH = 1e6, 1e12, 1.1


def as_loss(loss: object) -> Loss:
    """Return the loss that a parameter stands for, as an object of its own: None is the paper's.

    One from outside the package is checked numerically (:func:`check_loss`), those of the package by their parameters.
    """
    if loss is None:
        return Squared()
    if not isinstance(loss, Loss):
        raise ValueError(
            "loss must be None or a loss such as Squared(), PseudoHuber(delta=1.0) or LogCosh(scale=1.0), got "
            f"{loss!r}. One of your own derives from semikpca.losses.Loss."
        )
    if type(loss) not in _OWN_LOSSES:
        check_loss(loss)
    for name, value in loss.get_params(deep=False).items():
        if type(loss) in _OWN_LOSSES and not is_positive_number(value):
            raise ValueError(f"{name} of {type(loss).__name__} must be a positive, finite number, got {value!r}.")
    own: Loss = clone(loss)
    return own


def check_loss(loss: Loss) -> None:
    """Check numerically that a loss is what the theorem asks for; ValueError says what it is not, and what helps.

    Looked at are errors between 0.001 and 1,000 of both signs: ρ(0) = 0, ρ even and convex, ρ′ and ρ″ the derivatives
    of ρ by differences, and 0 ≤ ρ″ ≤ ``lipschitz_constant`` ≤ 1. Where ``has_bounded_derivative`` is claimed, ρ′ must
    have settled between an error of 10⁶ and one of 10¹², and where ``is_linear`` is, ρ′(e) must be e.

    Parameters
    ----------
    loss : Loss

    Examples
    --------
    >>> check_loss(PseudoHuber(delta=0.5))
    """
    with np.errstate(all="ignore"):  # what overflows shows in the numbers
        value, slope, curvature = (_numbers(loss, name) for name in ("value", "derivative", "second_derivative"))
        _check_shape(loss, value(_ERRORS), value(-_ERRORS), float(value(np.zeros(1))[0]))
        steps = _STEP * np.abs(_ERRORS)
        _check_differences(loss, "derivative", slope(_ERRORS), value, steps)
        _check_differences(loss, "second_derivative", curvature(_ERRORS), slope, steps)
        _check_curvature(loss, curvature(_ERRORS))
        if loss.has_bounded_derivative:
            far, farther = np.abs(slope(np.array([_FAR, _FARTHER])))
            if not farther <= _MOST_GROWTH * far:
                raise ValueError(
                    f"{loss!r} claims a bounded derivative, but ρ′ is {far:.4g} at an error of {_FAR:.0e} and "
                    f"{farther:.4g} at {_FARTHER:.0e}. Let has_bounded_derivative be False."
                )
        off = np.abs(slope(_ERRORS) - _ERRORS) / np.abs(_ERRORS)
        if loss.is_linear and not off.max() <= _ROUNDING:
            at = _ERRORS[off.argmax()]
            raise ValueError(
                f"{loss!r} claims to be linear, but ρ′({at:.4g}) is {slope(np.array([at]))[0]:.6g}. Let is_linear be "
                "False."
            )


def _numbers(loss: Loss, name: str) -> Any:
    """Return a member of the loss as a function from arrays to arrays, which refuses other answers."""

    def function(errors: FloatArray) -> FloatArray:
        found = np.asarray(to_numpy(getattr(loss, name)(errors)), dtype=np.float64)
        if found.shape != errors.shape or not np.isfinite(found).all():
            what = f"shape {found.shape}" if found.shape != errors.shape else "NaN or infinity among them"
            raise ValueError(
                f"{type(loss).__name__}.{name} must return a finite number for each error, got {what} for "
                f"{len(errors)} errors between {errors.min():.4g} and {errors.max():.4g}."
            )
        return found

    return function


def _check_shape(loss: Loss, values: FloatArray, mirrored: FloatArray, at_zero: float) -> None:
    if not abs(at_zero) <= _ROUNDING:
        raise ValueError(f"ρ(0) of {loss!r} must be 0, got {at_zero:.6g}. Subtract it from value.")
    uneven = np.abs(values - mirrored) - _ROUNDING * np.abs(values)
    if not (uneven <= 0).all():
        at = _ERRORS[uneven.argmax()]
        found = values[uneven.argmax()], mirrored[uneven.argmax()]
        raise ValueError(
            f"{loss!r} must be even, but ρ({at:.4g}) is {found[0]:.6g} and ρ({-at:.4g}) is {found[1]:.6g}. Classes "
            "would not count alike; let value depend on the size of the error."
        )


def _check_differences(loss: Loss, name: str, claimed: FloatArray, function: Any, steps: FloatArray) -> None:
    seen = (function(_ERRORS + steps) - function(_ERRORS - steps)) / (2 * steps)
    # Relative to the function over the error, which is the size that a derivative has on the way from 0.
    sizes = np.maximum(np.abs(seen), np.abs(function(_ERRORS) / _ERRORS))
    off = np.abs(claimed - seen) - _FROM_DIFFERENCES * sizes
    if not (off <= 0).all():
        at = off.argmax()
        raise ValueError(
            f"{name} of {loss!r} is {claimed[at]:.6g} at an error of {_ERRORS[at]:.4g}, where differences say "
            f"{seen[at]:.6g}. Let it be the derivative of {'value' if name == 'derivative' else 'derivative'}."
        )


def _check_curvature(loss: Loss, curvatures: FloatArray) -> None:
    limit, largest = float(loss.lipschitz_constant), float(curvatures.max())
    if curvatures.min() < -_ROUNDING:
        at = curvatures.argmin()
        raise ValueError(
            f"{loss!r} must be convex, but ρ″ is {curvatures[at]:.6g} at an error of {_ERRORS[at]:.4g}. The interval "
            "of error weights holds for convex losses only; take one, such as PseudoHuber."
        )
    if largest > limit * (1 + _ROUNDING):
        raise ValueError(
            f"lipschitz_constant of {loss!r} is {limit:.6g}, but ρ″ is {largest:.6g} at an error of "
            f"{_ERRORS[curvatures.argmax()]:.4g}. Let it be the largest value of ρ″."
        )
    if not 0 < limit <= 1:
        raise ValueError(
            f"lipschitz_constant of {loss!r} must be above 0 and at most 1, got {limit:.6g}. Divide the loss by "
            f"{limit:.6g} and multiply an absolute error_weight by it: the problem is the same, and its interval ends "
            "at 1/λ(k+1)."
        )
