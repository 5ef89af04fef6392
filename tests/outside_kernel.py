"""A kernel that the package does not know: one class, as anybody may write it."""

from semikpca.kernels import ExponentialDecay, Formula, ProductKernel, median_distance


class Matern(ProductKernel):
    """The Matérn kernel 3/2: (1 + t) exp(−t) with t = √3 ‖a − b‖ / length.

    Parameters
    ----------
    length : float, optional
        The median distance between the rows unless given.
    """

    shorthand = "matern"

    def __init__(self, length=None):
        self.length = length

    def fit(self, rows):
        self.length_ = median_distance(rows) if self.length is None else self.length
        return self

    @property
    def formula(self):
        return Formula("squared distance", ExponentialDecay((1.0, 1.0), root=True), scale=3 / self.length_**2)
