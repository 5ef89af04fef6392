"""How much of a blend is Semi-KPCA's: what its certificate says, and its error weight moves, counts as far as that."""

from dataclasses import dataclass
from typing import Any

from semikpca.convexity import ConvexityCertificate
from semikpca.kernels import Kernel

# Below this share of the blend Semi-KPCA is said to decide nothing; the same holds for a view of the columns.
NEXT_TO_NOTHING = 0.05
_ROUNDING = 1e-6  # shares add up to 1 but for it


@dataclass(frozen=True)
class SemiKPCAUse:
    """A kernel that Semi-KPCA uses with one error weight, and what its candidates have of the blend together."""

    kernel: Kernel
    n_components_removed: int
    error_weight: float
    share: float


@dataclass(frozen=True)
class SemiKPCAShare:
    """What Semi-KPCA has of a blend.

    Attributes
    ----------
    share : float
        Of all uses of Semi-KPCA together.
    heaviest : float
        Of the use that has most, to which the certificate belongs.
    certificate : ConvexityCertificate or None
        Of that use, also where its share is nothing; None where no kernel has an error weight.
    is_known : bool
        False as long as nothing was blended: labels of two classes are needed.
    """

    share: float
    heaviest: float
    certificate: ConvexityCertificate | None
    is_known: bool

    @classmethod
    def of(cls, model: Any) -> "SemiKPCAShare":
        """Return it for a fitted automatic classifier."""
        shares = [use.share for use in semi_kpca_uses(model)]
        return cls(sum(shares), max(shares, default=0.0), model.certificate_, len(model.weights_) > 0)

    @property
    def decides(self) -> bool:
        """Whether Semi-KPCA has a part in the answer that is worth a certificate."""
        return self.is_known and self.certificate is not None and self.share >= NEXT_TO_NOTHING

    @property
    def in_words(self) -> str:
        """A sentence on who decided; "" as long as nothing was blended."""
        if not self.is_known:
            return ""
        if self.certificate is None:
            return "Plain kernels decided: none of the kernels in use has an error weight."
        if not self.decides:
            return (
                f"Plain kernels decided: Semi-KPCA has {in_percent(self.share)} of the blend, so that its error weight "
                "changes next to nothing."
            )
        others = "" if self.share - self.heaviest < 0.005 else f", all of its uses {in_percent(self.share)}"
        return f"This use of Semi-KPCA has {in_percent(self.heaviest)} of the blend{others}."

    @property
    def what_would_change_that(self) -> str:
        """A sentence on what brings Semi-KPCA in; "" where it decides, or nothing was blended."""
        if not self.is_known or self.decides or self.certificate is None:
            return ""
        return (
            "The blend goes by which candidates find left-out labels again. Further labels change it, above all of "
            "rows whose predicted label is wrong."
        )


def semi_kpca_uses(model: Any) -> list[SemiKPCAUse]:
    """Return each use of Semi-KPCA in the blend of a fitted automatic classifier, in the order of its candidates."""
    results = model.results_
    found: dict[tuple[int, int, float], SemiKPCAUse] = {}
    columns = (results.get(name, ()) for name in ("kernel", "n_components_removed", "error_weight"))
    for kernel, k, weight, share in zip(*columns, model.weights_, strict=True):
        if k is not None:
            key = id(kernel), int(k), float(weight)
            before = found[key].share if key in found else 0.0
            found[key] = SemiKPCAUse(kernel, int(k), float(weight), before + float(share))
    return list(found.values())


def in_percent(share: float) -> str:
    """Return a share in percent, a small one with a digit more; what is not nothing or everything is not called so.

    Examples
    --------
    >>> in_percent(0.0), in_percent(0.002), in_percent(0.046), in_percent(0.43), in_percent(0.9996), in_percent(1.0)
    ('0%', 'less than 1%', '4.6%', '43%', 'more than 99%', '100%')
    """
    if share > 0 and share < 0.005:
        return "0%" if share < _ROUNDING else "less than 1%"
    if 0.995 <= share < 1:
        return "100%" if 1 - share < _ROUNDING else "more than 99%"
    return f"{share:.1%}".replace(".0%", "%") if share < 0.1 else f"{share:.0%}"
