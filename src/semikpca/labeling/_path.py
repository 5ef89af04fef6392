"""All error weights from one space."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from semikpca._numbers import is_whole_number
from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import like, to_numpy
from semikpca.estimators import SemiKPCAClassifier
from semikpca.exceptions import NotLinearError
from semikpca.labeling._kinds import require_classes
from semikpca.labels import only_of_class, signed_targets
from semikpca.problem import LabelSpace
from semikpca.spectrum import Spectrum


@dataclass(frozen=True)
class ErrorWeightPath:
    """The fit at many error weights.

    Attributes
    ----------
    error_weights : ndarray of shape (n_weights,)
        Absolute.
    relative_weights : ndarray of shape (n_weights,)
        In multiples of the bound.
    decision : ndarray of shape (n_weights, n_samples) or (n_weights, n_samples, n_classes)
    rows : ndarray of int, shape (n_labeled,)
        The labeled rows.
    left_out_decision : ndarray of shape (n_weights, n_labeled) or (n_weights, n_labeled, n_classes)
        Decisions at the labeled rows, each without its own label.
    left_out_accuracy : ndarray of shape (n_weights,)
        Share of labels found again, over those that are not the only one of their class; NaN if all are.
    """

    error_weights: FloatArray
    relative_weights: FloatArray
    decision: FloatArray
    rows: IntArray
    left_out_decision: FloatArray
    left_out_accuracy: FloatArray


def error_weight_path(
    model: SemiKPCAClassifier, relative_weights=100, *, spectrum: Spectrum | None = None
) -> ErrorWeightPath:
    """Return decisions and leave-one-label-out at many error weights, each equal to a fit of its own.

    Parameters
    ----------
    model : fitted SemiKPCAClassifier
        Its rows, labels, kernel and removed components are used; its own error weight and class prior are not.
    relative_weights : int or array-like, default=100
        Error weights in multiples of the bound, inside (0, 1), or how many to spread from 0.001 to 0.999.
    spectrum : Spectrum, optional
        The whole spectrum of the kernel matrix, from ``model.full_spectrum()``: worth its time where many labelings of
        the same rows share it. Without it a few products with the kernel matrix do.

    Notes
    -----
    Where ``backend="auto"`` computes kernel values in float32, answers lose digits close to the bound, as many as the
    condition number 1 / (1 − relative weight) has. A fit at such a weight takes float64, and so does ``"blocked"``.

    With another loss than the square, weights do not share a space: each is a fit by Newton steps that begin where
    those of the weight before it ended, and so is each left-out label. That costs as much as n_weights · (1 +
    n_labeled) solves (docs/losses.md); ask for fewer weights.
    """
    require_classes(model, "error_weight_path", "fits with other values of error_weight")
    certificate = model.certificate_
    weights = _relative_weights(relative_weights)
    k, bound = certificate.n_components_removed, certificate.error_weight_max
    if weights.max() >= 1:
        raise certificate.beyond(float(weights.max() * bound))
    if spectrum is not None and not model.has_label_response:
        raise NotLinearError("A path from the spectrum", repr(certificate.loss), "Leave spectrum out.")
    absolute = np.array([certificate.resolve(float(weight)) for weight in weights])
    coding = model.label_coding_
    rows = coding.labeled_rows
    answers = None if spectrum is not None else model.path_answers(absolute)
    if answers is None:
        space = LabelSpace.of_spectrum(model.full_spectrum() if spectrum is None else spectrum, k, rows)
        targets = signed_targets(coding.codes[rows], coding.n_classes, model.linear_decision().dtype)
        answers = space.answers(like(targets, space.pushed), absolute)
    decision, left_out = (to_numpy(numbers) for numbers in answers)
    decision[:, model.reach_.out] = 0
    left_out[:, model.reach_.alone(rows, coding.codes)] = 0
    return ErrorWeightPath(
        error_weights=absolute,
        relative_weights=weights,
        decision=_squeezed(decision),
        rows=rows,
        left_out_decision=_squeezed(left_out),
        left_out_accuracy=_accuracies(model, left_out),
    )


def _relative_weights(weights) -> FloatArray:
    if is_whole_number(weights, 1):
        return np.asarray(expit(np.linspace(logit(1e-3), logit(0.999), int(weights))))
    given: FloatArray = np.asarray(weights, dtype=float)
    if given.ndim != 1 or given.size == 0 or not (given > 0).all():
        raise ValueError(
            "relative_weights must be positive numbers below 1, or a whole number of weights to spread, got "
            f"{weights!r}."
        )
    return given


def _accuracies(model, left_out) -> FloatArray:
    coding = model.label_coding_
    rows = coding.labeled_rows
    codes = coding.codes[rows]
    scored = ~only_of_class(codes)
    if not scored.any():
        return np.full(len(left_out), np.nan)
    hits = [(model.left_out_codes(rows, decision) == codes)[scored] for decision in left_out]
    return np.asarray(np.mean(hits, axis=1))


def _squeezed(stack):
    return stack[..., 0] if stack.shape[-1] == 1 else stack
