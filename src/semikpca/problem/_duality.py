"""The two objectives of a fit, and what lies between them: strong duality as a number.

Problem 4 is the minimum of P(w) = ½⟨w, w⟩ − γ Σ ρ(y_i + ⟨w, φ_i⟩). A convex loss is a supremum of lines,
ρ(e) = sup β e − ρ*(β), so that −ρ is an infimum; with both infima taken together and w first, w = γ Σ β_i φ_i, there
remains the dual, a minimum as well:

    D(β) = γ Σ (ρ*(β_i) − β_i y_i) − ½ γ² βᵀ K′ β

For the squared loss and α = γβ it is the paper's ½ αᵀ (I/γ − K′) α − yᵀα. At any β, with the w that belongs to it, the
dual lies above the primal by γ Σ (ρ*(β_i) + ρ(e_i) − β_i e_i) ≥ 0, and not at all at the solution (docs/losses.md).
"""

from dataclasses import dataclass

import numpy as np

from semikpca._typing import FloatArray
from semikpca.arrays import to_numpy
from semikpca.convexity import ConvexityCertificate
from semikpca.operators import DeflatedOperator


@dataclass(frozen=True)
class DualityGap:
    """The objectives of a fit, summed over its columns.

    Attributes
    ----------
    primal : float
        ½⟨w, w⟩ − γ Σ ρ(y_i + f_i), at the w of the fit.
    dual : float
        γ Σ (ρ*(β_i) − β_i y_i) − ½ γ² βᵀ K′ β, at the multipliers α = γβ of the fit.
    gap : float
        dual − primal, summed term by term: 0 at the solution, and positive elsewhere but for rounding.
    contraction_factor : float
        q = γλ(k+1).
    """

    primal: float
    dual: float
    gap: float
    contraction_factor: float

    @property
    def excess(self) -> float:
        """How much the primal objective is above its minimum, at most: q / (1 − q) times the gap."""
        return self.contraction_factor / (1 - self.contraction_factor) * self.gap


def duality_gap(
    deflated: DeflatedOperator, certificate: ConvexityCertificate, targets: FloatArray, alpha: FloatArray
) -> DualityGap:
    """Return the objectives at multipliers α, shape (n, n_columns), of a fit to ``targets``: one product."""
    gamma, loss = certificate.error_weight, certificate.loss
    assert gamma is not None, "a fit has one"
    # As the products have them, and summed in double precision: a gap is a small difference of large sums.
    decision = to_numpy(deflated.matmat(deflated.block(alpha))).astype(np.float64)
    alpha, targets = to_numpy(alpha).astype(np.float64), to_numpy(targets).astype(np.float64)
    slopes, errors = alpha / gamma, targets + decision
    values, conjugates = to_numpy(loss.value(errors)), to_numpy(loss.conjugate(slopes))
    length = 0.5 * float((alpha * decision).sum())
    return DualityGap(
        primal=length - gamma * float(values.sum()),
        dual=gamma * float((conjugates - slopes * targets).sum()) - length,
        gap=gamma * float((conjugates + values - slopes * errors).sum()),
        contraction_factor=certificate.contraction_factor,
    )
