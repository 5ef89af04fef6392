"""All error weights at once: one small space that holds the answers to labels at given rows.

f solves (I/γ − K′) f = K′ y. The Krylov space of K′ and K′ y is the same for every γ, so that a space that serves the
largest weight of a path, the hardest, serves all; in it each weight is a division.
"""

from dataclasses import dataclass

import numpy as np

from semikpca._typing import Array, FloatArray, IntArray
from semikpca.arrays import like, namespace, to_numpy
from semikpca.operators import DeflatedOperator, Subspace
from semikpca.spectrum import Spectrum, orthonormal_against, rayleigh_ritz

# The space is given up when it has this share of all dimensions: the whole spectrum is then no more work.
_LARGEST_SHARE = 0.5
_MAX_PRODUCTS = 60


@dataclass(frozen=True)
class LabelSpace:
    """The label response at all error weights: H[:, rows] = U G B with G = diag(1 / (1/γ − θ)).

    At the rows themselves H[rows, rows] = γ (K′[rows, rows] + Bᵀ G B), whose error is the square of the other's.
    """

    vectors: Array  # U, orthonormal, shape (n, m)
    values: FloatArray  # θ, the Ritz values of K′ in the space
    pushed: Array  # B = Uᵀ K′ at the rows, shape (m, n_rows)
    own: Array  # K′ between the rows

    @classmethod
    def of_spectrum(cls, spectrum: Spectrum, k: int, rows: IntArray) -> "LabelSpace":
        """Return the space of a whole spectrum without its first k eigenpairs."""
        V, values = spectrum.eigenvectors[:, k:], spectrum.eigenvalues[k:]
        pushed = values[:, np.newaxis] * V[rows].T
        return cls(V, values, pushed, V[rows] @ pushed)

    def answers(self, targets: Array, error_weights: FloatArray) -> tuple[Array, Array]:
        """Return the decisions for targets at the rows, and those at the rows without their own targets."""
        return self.decisions(targets, error_weights), self.left_out(targets, error_weights)

    def decisions(self, targets: Array, error_weights: FloatArray) -> Array:
        """Return the decisions for targets at the rows at each error weight, shape (n_weights, n, n_columns)."""
        gains, coordinates = self._gains(error_weights), self.pushed @ targets
        n_weights, n_columns = len(error_weights), targets.shape[1]
        filtered = gains[:, :, None] * coordinates[:, None, :]
        decisions = self.vectors @ filtered.reshape(len(self.values), n_weights * n_columns)
        return namespace(decisions).moveaxis(decisions.reshape(-1, n_weights, n_columns), 1, 0)

    def left_out(self, targets: Array, error_weights: FloatArray) -> Array:
        """Return the decisions at the rows, each without its own target, shape (n_weights, n_rows, n_columns)."""
        B, own = to_numpy(self.pushed).astype(np.float64), to_numpy(self.own).astype(np.float64)
        gains, answers = to_numpy(self._gains(error_weights)).astype(np.float64), []
        for weight, gain in zip(error_weights, gains.T, strict=True):
            response = weight * (own + B.T @ (gain[:, np.newaxis] * B))
            np.fill_diagonal(response, 0)
            answers.append(response @ to_numpy(targets))
        return like(np.stack(answers), targets)

    def _gains(self, error_weights: FloatArray) -> Array:
        inverse = 1 / error_weights - self.values[:, np.newaxis].astype(np.float64)
        return like(1 / inverse, self.pushed)


def label_space(
    operator: DeflatedOperator, rows: IntArray, error_weight: float, rtol: float, known: Subspace | None
) -> LabelSpace | None:
    """Return the space for labels at ``rows`` and error weights up to ``error_weight``; None if it grows too large.

    It begins with what is known, K′ at the rows, and what leads out of the known; every further block is what K′ makes
    of the last one. So what is missing at one error weight is missing at all, and no direction serves only one of them.

    ``rtol`` is the largest residual of a column at the largest error weight, relative to K′ at the row; or what
    rounding of products allows, if that is more. ``known`` is what is known of K already.
    """
    pushed = operator.columns(rows)
    basis, images, block = pushed[:, :0], pushed[:, :0], pushed
    if known is not None:
        basis, images = known.basis, operator.applied(known.basis, known.images + 0)
        block = operator.xp.hstack([pushed, images[:, images.shape[1] - known.n_last :]])
    goals = rtol * np.sqrt(_squares(pushed))
    for _ in range(_MAX_PRODUCTS):
        if basis.shape[1] + block.shape[1] > _LARGEST_SHARE * operator.n:
            return None
        block = orthonormal_against(basis, block)
        basis = operator.xp.hstack([basis, block])
        product = operator.matmat(block)
        images = operator.xp.hstack([images, product])
        block = product
        residuals, rounding = _residuals(operator, basis, images, pushed, error_weight)
        worst = float((residuals / np.maximum(goals, rounding)).max(initial=0.0))
        operator.log.report("path", worst * rtol, rtol)
        if not worst > 1:
            return _in_ritz_vectors(basis, images, pushed, rows)
    return None


def _in_ritz_vectors(basis: FloatArray, images: FloatArray, pushed: FloatArray, rows: IntArray) -> LabelSpace:
    values, rotation = rayleigh_ritz(basis, images)
    vectors = basis @ rotation
    return LabelSpace(vectors, values, vectors.T @ pushed, pushed[rows])


def _residuals(
    operator: DeflatedOperator, basis: FloatArray, images: FloatArray, pushed: FloatArray, error_weight: float
) -> tuple[FloatArray, FloatArray]:
    """Return how far (I/γ − K′) f is from K′ at the rows for the answers f in the space, and what rounding leaves."""
    projected = to_numpy(basis.T @ images).astype(np.float64)
    system = np.eye(len(projected)) / error_weight - (projected + projected.T) / 2
    coordinates = np.linalg.solve(system, to_numpy(basis.T @ pushed).astype(np.float64))
    answers = like(coordinates, basis)
    residuals = pushed - basis @ (answers / error_weight) + images @ answers
    largest = max([float(value) for value in operator.eigenvalues[:1]] + [1 / error_weight])
    rounding = operator.facts.product_error * largest * np.sqrt((coordinates**2).sum(axis=0))
    return np.sqrt(_squares(residuals)), np.maximum(rounding, np.finfo(np.float64).tiny)


def _squares(columns: FloatArray) -> FloatArray:
    return np.asarray(to_numpy(namespace(columns).einsum("ij,ij->j", columns, columns)), dtype=np.float64)
