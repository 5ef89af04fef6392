"""Losses of the error term: concave in the problem, convex as functions.

Problem 4 minimizes ½⟨w, w⟩ − γ Σ ρ(e_i) with the errors e_i = y_i + f_i. Where ρ is convex, even, and ρ″ ≤ 1, the
interval γ < 1/λ(k+1) of Theorem 2 is the same for every ρ, and the multipliers are α = γ ρ′(e). The paper's loss is
the square. The proofs are in docs/losses.md.
"""

from semikpca.losses._base import Loss
from semikpca.losses._checks import as_loss, check_loss
from semikpca.losses._own import SQUARED, LogCosh, PseudoHuber, Squared

__all__ = ["SQUARED", "LogCosh", "Loss", "PseudoHuber", "Squared", "as_loss", "check_loss"]
