"""Whether a model predicts classes or numbers: asked here by the readings that differ between the two."""

from typing import Any

from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted


def predicts_numbers(model: Any) -> bool:
    """Return whether a fitted model fills in numbers; refuse a regressor that learns from labeled rows alone."""
    check_is_fitted(model)
    if not is_regressor(model):
        return False
    if not hasattr(model, "left_out_values"):
        raise TypeError(
            f"{type(model).__name__} does not say what it would answer without a label. Use SemiKPCARegressor or "
            "SemiKPCARegressorCV."
        )
    return True


def require_classes(model: Any, reading: str, instead: str) -> None:
    """Refuse a model that fills in numbers, and name what there is for it."""
    check_is_fitted(model)
    if is_regressor(model):
        raise TypeError(f"{reading} is about classes, and {type(model).__name__} fills in numbers. Use {instead}.")


def require_numbers(model: Any, reading: str, instead: str) -> None:
    """Refuse a model that predicts classes, and name what there is for it."""
    if not predicts_numbers(model):
        raise TypeError(f"{reading} is about numbers, and {type(model).__name__} predicts classes. Use {instead}.")
