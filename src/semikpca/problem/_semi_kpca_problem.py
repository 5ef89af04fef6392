"""Semi-KPCA from a kernel matrix to its label response: spectrum, certificate, error weight, linear system.

Every classifier that uses Semi-KPCA goes through :meth:`SemiKPCAProblem.set_up`, and so through the same guards: the
tolerance near the bound, the refusal of multipliers that are no numbers, and the step to a sharper matrix.
"""

from dataclasses import dataclass, replace
from numbers import Real

from semikpca._typing import Array, FloatArray, Rows
from semikpca.arrays import to_numpy
from semikpca.convexity import ConvexityCertificate, ErrorWeightUnit, without_squared_loss
from semikpca.exceptions import DegenerateSpectrumWarning, warn_user
from semikpca.kernels import Kernel
from semikpca.losses import SQUARED, Loss
from semikpca.operators import KernelOperator, Subspace
from semikpca.problem._loss_response import LossResponse
from semikpca.problem._semi_kpca import SemiKPCAResponse
from semikpca.spectrum import removable_spectrum

# Residuals of the removed components, relative to λ1: decisions then agree with exact ones to 1e-9 and better unless
# the gap at the cut is tiny, and the bound of the certificate takes them into account.
EIGENPAIR_RTOL = 1e-11
# A stored matrix makes products cheap, so digits are worth more than the few steps they cost.
STORED_MATRIX_RTOL = 1e-12
# Rounding of products may be worth this many times the tolerance, by its bound; what is seen is far less.
_ROUNDING_SHARE = 10
_FAR_FROM_THE_BOUND = 0.1  # of the bound; farther away its error does not count for more than any other


@dataclass(frozen=True)
class RemovedComponents:
    """The leading eigenpairs of a kernel matrix, of which all but the last are removed."""

    requested: int  # components that were asked to be removed; more are where an eigenspace would have been cut
    interval: ConvexityCertificate  # without an error weight
    eigenvalues: FloatArray  # shape (k + 1,)
    eigenvectors: FloatArray  # shape (n, k)
    rtol: float  # what the residuals were allowed to be, relative to λ1
    subspace: Subspace | None = None  # what the search for the eigenpairs has learned of the matrix

    @classmethod
    def of(cls, operator: KernelOperator, requested: int, rtol: float, start: Array | None) -> "RemovedComponents":
        """Return the first components of a kernel matrix; the search may begin with the columns ``start``."""
        spectrum, cut = removable_spectrum(operator, requested, rtol, start)
        vectors = to_numpy(spectrum.eigenvectors[:, :cut])
        interval = ConvexityCertificate.from_spectrum(spectrum, cut)
        return cls(requested, interval, spectrum.eigenvalues, vectors, rtol, spectrum.subspace)

    @property
    def count(self) -> int:
        """K, how many components are removed."""
        return self.interval.n_components_removed

    def __getstate__(self) -> dict[str, object]:
        """Leave the subspace behind: it saves a few products, and takes many times what the rest does."""
        return {**self.__dict__, "subspace": None}


@dataclass(frozen=True)
class SemiKPCAFacts:
    """What a fit has learned of a kernel matrix; with the matrix it gives the label response again."""

    removed: RemovedComponents
    certificate: ConvexityCertificate  # with the error weight

    @property
    def error_weight(self) -> float:
        """The absolute error weight."""
        assert self.certificate.error_weight is not None, "a fit has one"
        return self.certificate.error_weight


@dataclass(frozen=True)
class SemiKPCAProblem:
    """Problem 4 as it is asked: all that decides the answer beside the kernel matrix and the labels."""

    n_components_removed: int = 1
    error_weight: float | str = "middle"
    unit: ErrorWeightUnit = "relative"
    tol: float = 1e-6  # relative tolerance of eigenpairs and solves where products are what a fit costs
    max_iter: int | None = None
    stored_eigenpair_rtol: float = EIGENPAIR_RTOL  # and of both where the matrix is stored and digits are cheap
    stored_solve_rtol: float = STORED_MATRIX_RTOL
    # Whether to warn where a cut falls inside a repeated eigenvalue and more components are removed than asked for.
    reports_wider_cuts: bool = True
    loss: Loss = SQUARED

    # A row without a target has α = γ f: see ``SemiKPCAResponse.dual_coef``.
    alpha_sign = 1
    many_products = False
    row_stays = True  # an unlabeled row is part of the problem, with target 0

    @property
    def matrix_tol(self) -> float:
        """The tolerance that decides in which digits kernel values are computed."""
        return self.tol * self._distance

    @property
    def is_linear(self) -> bool:
        """Whether the answer is linear in the labels."""
        return self.loss.is_linear

    def refuse_on_cluster(self, kernel: Kernel, rows: Rows) -> None:
        """Refuse losses but the squared one: for that a summary of the rows is all that it takes, their squares."""
        if not self.is_linear:
            raise ValueError(
                f"loss={self.loss!r} needs the error of every row, and with {kernel!r} these {rows.shape[0]:,} rows on "
                "a cluster count by the sum of their squares only. Use loss=Squared(), a kernel without Nystroem, "
                "whose products are made on the cluster, or fit a sample of the rows on the client."
            )

    def set_up(
        self, operator: KernelOperator, targets: Array | None = None, known: RemovedComponents | None = None
    ) -> tuple[SemiKPCAFacts, SemiKPCAResponse]:
        """Return what is learned of the kernel matrix, and the label response.

        The response does not depend on ``targets``, those of the first solve, but where products are costly the search
        for the eigenpairs begins with them. ``known`` is from an earlier setting with as many removed components, and
        used where it is accurate enough. Refused are an error weight at or above the bound (UnboundedProblemError) and
        a kernel matrix that has no component left (KernelRankError).
        """
        rtol = self._eigenpair_rtol(operator)
        removed = known
        if removed is None or removed.rtol > rtol:
            removed = RemovedComponents.of(operator, self.n_components_removed, rtol, targets)
            if removed.count > removed.requested and self.reports_wider_cuts and known is None:
                value = float(removed.eigenvalues[removed.count - 1])
                warn_user(DegenerateSpectrumWarning(removed.requested, removed.count, value))
        interval = replace(removed.interval, loss=self.loss)
        weight = interval.resolve(self.error_weight, self.unit)
        facts = SemiKPCAFacts(removed, interval.at(weight))
        _refuse_huge_multipliers(operator, facts.certificate)
        sharper = self._sharp_enough(operator, facts)
        if sharper is not operator:
            return replace(self, reports_wider_cuts=False).set_up(sharper, targets)
        return facts, self.restored(operator, facts)

    def restored(self, operator: KernelOperator, facts: SemiKPCAFacts) -> SemiKPCAResponse:
        """Return the label response again, from what was learned of the kernel matrix."""
        operator = self._sharp_enough(operator, facts)
        k = facts.removed.count
        kind = SemiKPCAResponse if self.is_linear else LossResponse
        with operator.between_products():
            return kind(
                operator,
                facts.removed.eigenvalues[:k],
                operator.block(facts.removed.eigenvectors),
                facts.certificate,
                rtol=min(self.tol, self.stored_solve_rtol) if operator.facts.is_stored else self.tol,
                max_iter=self.max_iter,
                subspace=facts.removed.subspace,
            )

    def __getstate__(self) -> dict[str, object]:
        """Leave out the paper's loss, as files did that knew of no other; it is the default of the class."""
        return without_squared_loss(self.__dict__)

    def at_weight(self, error_weight: float | str) -> "SemiKPCAProblem":
        """Return the same problem at another error weight, relative to the bound."""
        return replace(self, error_weight=error_weight, unit="relative")

    @property
    def _distance(self) -> float:
        """How far the error weight is from the bound, where that is close enough for errors of the bound to matter."""
        is_share = self.unit == "relative" and isinstance(self.error_weight, Real)
        distance = 1 - float(self.error_weight) if is_share else 1.0
        return distance if 0 < distance < _FAR_FROM_THE_BOUND else 1.0

    def _eigenpair_rtol(self, operator: KernelOperator) -> float:
        if operator.facts.is_stored:
            return max(EIGENPAIR_RTOL, self.stored_eigenpair_rtol * self._distance)
        return self.tol * self._distance

    def _sharp_enough(self, operator: KernelOperator, facts: SemiKPCAFacts) -> KernelOperator:
        """Return the operator, or a sharper one where the error weight is so close to the bound that it needs one."""
        largest = float(facts.removed.eigenvalues[0]) * facts.error_weight
        amplified = max(largest, 1.0) * facts.certificate.condition_number
        accepted = max(_ROUNDING_SHARE * self.tol, operator.facts.accepted_error)
        return operator if operator.facts.product_error * amplified <= accepted else operator.sharper()


def _refuse_huge_multipliers(operator: KernelOperator, certificate: ConvexityCertificate) -> None:
    """Refuse a matrix whose multipliers, at most error weight × condition number × √n, may be no numbers."""
    assert certificate.error_weight is not None, "the weight is resolved before"
    largest = certificate.error_weight * certificate.condition_number * operator.n
    if not largest < float(operator.xp.finfo(operator.dtype).max) / 10:
        raise ValueError(
            f"With the error weight {certificate.error_weight:.3g} (condition number "
            f"{certificate.condition_number:.3g}) the multipliers leave the range of {operator.dtype}: the kernel "
            "matrix is too small. Multiply the features or the kernel matrix by a large number, or lower error_weight."
        )
