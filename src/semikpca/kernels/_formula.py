"""The formula of a kernel on vectors, as data: what two rows are compared by, and what becomes of the comparison.

Whoever evaluates a kernel, NumPy, torch or a program on a GPU, reads these fields; none of them knows a kernel by name.
"""

from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Literal, TypeAlias, get_args

from semikpca._numbers import is_positive_number, is_whole_number

Pairing: TypeAlias = Literal["inner product", "squared distance", "city-block distance"]


@dataclass(frozen=True)
class Power:
    """(s + shift)^degree, of an inner product s.

    Attributes
    ----------
    degree : int
    shift : float
    """

    degree: int = 1
    shift: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what no product could compute."""
        if not is_whole_number(self.degree, minimum=1):
            raise ValueError(f"degree must be a whole number, 1 or more, got {self.degree!r}.")
        require_finite_number("shift", self.shift)

    @property
    def is_linear(self) -> bool:
        """Whether it changes nothing, so that a product may go through the rows themselves."""
        return self.degree == 1 and self.shift == 0


@dataclass(frozen=True)
class ExponentialDecay:
    """p(t) exp(−t), of a distance s: t is s or its root, and p a polynomial.

    Attributes
    ----------
    coefficients : tuple of float
        Of p, the constant first: k(a, a) is this one.
    root : bool
        Whether t = √s. With a squared distance and p = 1 + t that is the Matérn kernel 3/2, with 1 + t + t²/3 the one
        of 5/2.
    """

    coefficients: tuple[float, ...] = (1.0,)
    root: bool = False

    def __post_init__(self) -> None:
        """Refuse what no product could compute."""
        if not isinstance(self.coefficients, tuple) or not self.coefficients:
            raise ValueError(f"coefficients must be a tuple of one number or more, got {self.coefficients!r}.")
        for coefficient in self.coefficients:
            require_finite_number("each of the coefficients", coefficient)

    @property
    def is_plain(self) -> bool:
        """Whether it is exp(−s) and nothing else."""
        return self.coefficients == (1.0,) and not self.root

    @property
    def is_smooth(self) -> bool:
        """Whether a rounding error of s is no larger in the value, also between equal rows.

        A root makes 1e-8 of an error of 1e-16 in s = 0; where p(t) exp(−t) begins with 1 − t²/2 it is squared again.
        """
        slope = (*self.coefficients, 0.0)[1] - self.coefficients[0]
        return not self.root or slope == 0


Profile: TypeAlias = Power | ExponentialDecay


@dataclass(frozen=True)
class Formula:
    """k(a, b) = profile(scale · pairing(a, b)), of rows as ``ProductKernel.factor`` returns them.

    Attributes
    ----------
    pairing : {"inner product", "squared distance", "city-block distance"}
        a·b, ‖a − b‖² or ‖a − b‖₁.
    profile : Power or ExponentialDecay
        The first of inner products, the second of distances.
    scale : float

    Examples
    --------
    The Gaussian kernel exp(−0.5 ‖a − b‖²):

    >>> Formula("squared distance", ExponentialDecay(), scale=0.5)
    Formula(pairing='squared distance', profile=ExponentialDecay(coefficients=(1.0,), root=False), scale=0.5)
    """

    pairing: Pairing
    profile: Profile
    scale: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what no product could compute."""
        if self.pairing not in get_args(Pairing):
            raise ValueError(f"pairing must be one of {list(get_args(Pairing))}, got {self.pairing!r}.")
        wanted = Power if self.pairing == "inner product" else ExponentialDecay
        if not isinstance(self.profile, wanted):
            raise ValueError(f"The profile for {self.pairing!r} must be of {wanted.__name__}, got {self.profile!r}.")
        if not is_positive_number(self.scale):
            raise ValueError(f"scale must be a positive number, got {self.scale!r}.")

    @property
    def is_linear(self) -> bool:
        """Whether the kernel is an inner product and nothing more."""
        return isinstance(self.profile, Power) and self.profile.is_linear


def require_finite_number(name: str, number: object) -> None:
    """Refuse what is no number, infinity and NaN."""
    if not isinstance(number, Real) or not isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {number!r}.")
