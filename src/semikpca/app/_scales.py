"""The scales of the two sliders: of the error weight, and of the share of accepted labels that must be right."""

import math

# The scale of the error weight's slider: the closer to the bound, the finer, with the bound itself at its end.
START, END, STEP = 0.02, 4.5, 0.02
MARKS = {0.301: "0.5", 1.0: "0.9", 2.0: "0.99", 3.0: "0.999"}
# What share of the accepted labels must be right, in percent: the scale of its slider.
LEAST_SHARE, MOST_SHARE, SHARE_STEP, USUAL_SHARE = 80.0, 99.5, 0.5, 95.0


def weight_at(position: float) -> float:
    """Return the relative weight at a place of the slider; at its end that is the bound, which no model accepts.

    Examples
    --------
    >>> weight_at(2.0), weight_at(END)
    (0.99, 1.0)
    """
    return 1.0 if position >= END - STEP / 2 else 1.0 - 10.0**-position


def position_of(weight: float) -> float:
    """Return the place of a relative weight below 1; weights that are too close to an end stand beside it.

    Examples
    --------
    >>> position_of(0.99)
    2.0
    """
    exact = -math.log10(1.0 - weight) if weight < 1 else END
    return round(min(max(round(exact / STEP) * STEP, START), END - STEP), 2)
