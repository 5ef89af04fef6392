"""The slider of the error weight: fine towards the bound, and the bound at its end."""

import numpy as np
import pytest

from semikpca.app._scales import END, START, STEP, position_of, weight_at


def test_the_end_of_the_slider_is_the_bound_and_nothing_else_is():
    positions = np.arange(START, END + STEP / 2, STEP).round(2)
    weights = [weight_at(float(position)) for position in positions]
    assert weights[-1] == 1.0
    assert 0 < weights[0] < weights[-2] < 1
    assert weights == sorted(weights)


@pytest.mark.parametrize("position", [0.02, 1.0, 2.36, 4.48])
def test_a_place_is_found_again_from_its_weight(position):
    assert position_of(weight_at(position)) == position


@pytest.mark.parametrize("weight", [1e-9, 1 - 1e-12])
def test_weights_beyond_the_scale_stand_beside_its_ends(weight):
    assert START <= position_of(weight) < END
