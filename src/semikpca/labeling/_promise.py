"""What is proved of intervals and sets that rest on models without some of the labels."""

from semikpca.blending import MOST_FOLDS


def promise_without_each(error_rate: float) -> float:
    """Return the coverage of jackknife+, with each label left out by itself (Barber et al. 2021, theorem 1)."""
    return max(0.0, 1 - 2 * error_rate)


def promise_of_folds(error_rate: float, n_labels: int, n_of_rarest: int | None = None) -> float:
    """Return the coverage with the labels of each of 20 folds left out (theorems 1 and 4 there).

    Of each class by itself where the labels of the rarest are counted.
    """
    if n_labels <= MOST_FOLDS:
        return promise_without_each(error_rate)
    n = n_labels if n_of_rarest is None else n_of_rarest
    slack = 2 * (1 - 1 / MOST_FOLDS) / (n / MOST_FOLDS + 1)
    if n_of_rarest is None:  # the other bound wants folds of one size
        slack = min(slack, (1 - MOST_FOLDS / n) / (MOST_FOLDS + 1))
    return max(0.0, promise_without_each(error_rate) - slack)
