"""Colors and shapes of classes: which class has which, and whether they can be told apart."""

import re
from itertools import combinations

import numpy as np
import pytest

from semikpca._palette import ON_DARK, ON_LIGHT, SHAPES, class_color, class_places, class_shape


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ([], []),
        (["fern", "moss", "palm"], [0, 1, 2]),
        (["palm", "fern", "moss"], [2, 0, 1]),
        ([10, 9, 2.5], [2, 1, 0]),
        (["10", "9"], [0, 1]),
        (["other", 2, 1], [2, 1, 0]),
    ],
)
def test_a_class_has_its_place_in_sorted_order(classes, expected):
    assert class_places(classes) == expected


def test_classes_that_are_used_come_before_those_that_are_not():
    assert class_places(["palm", "fern", 3, "moss"], used={0, 3}) == [1, 3, 2, 0]
    assert class_places(["palm", "fern"], used=set()) == class_places(["palm", "fern"])


@pytest.mark.parametrize("dark", [False, True])
def test_the_searched_colors_come_first_and_no_later_one_is_like_another(dark):
    colors = [class_color(place, dark) for place in range(40)]
    assert tuple(colors[:10]) == (ON_DARK if dark else ON_LIGHT)
    assert len(set(colors)) == 40
    assert all(re.fullmatch("#[0-9a-f]{6}", color) for color in colors)


def test_neighboring_classes_differ_in_shape():
    assert [class_shape(place) for place in range(10)] == [*SHAPES, *SHAPES]


def as_seen(colors, cone):
    """Return colors in OKLab, as readers see them who lack a kind of cones: Machado et al. (2009), Ottosson (2020)."""
    matrices = {
        "all": np.eye(3),
        "long": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        "middle": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        "short": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    }
    seen = np.clip(linear_light(colors) @ np.asarray(matrices[cone]).T, 0, 1)
    cones = [
        [0.41222147, 0.53633254, 0.05144599],
        [0.2119035, 0.68069955, 0.10739696],
        [0.08830246, 0.28171884, 0.6299787],
    ]
    lab = [
        [0.21045426, 0.79361779, -0.00407205],
        [1.9779985, -2.42859221, 0.45059371],
        [0.02590404, 0.78277177, -0.80867577],
    ]
    return np.cbrt(seen @ np.asarray(cones).T) @ np.asarray(lab).T


def linear_light(colors):
    shares = np.array([[int(color[start : start + 2], 16) for start in (1, 3, 5)] for color in colors]) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("cone", ["all", "long", "middle", "short"])
@pytest.mark.parametrize("colors", [ON_LIGHT, ON_DARK], ids=["light", "dark"])
def test_any_two_colors_are_told_apart_by_every_reader(colors, cone):
    seen = as_seen(colors, cone)
    assert len(colors) == 10
    assert min(np.linalg.norm(first - second) for first, second in combinations(seen, 2)) > 0.065


@pytest.mark.parametrize(
    ("colors", "background"),
    [(ON_LIGHT, "#f6f8f7"), (ON_DARK, "#1a211e")],  # the map's, in report.css
    ids=["light", "dark"],
)
def test_every_color_stands_out_from_the_map(colors, background):
    luminance = linear_light([*colors, background]) @ [0.2126, 0.7152, 0.0722]
    pairs = np.sort([[value, luminance[-1]] for value in luminance[:-1]], axis=1) + 0.05
    assert (pairs[:, 1] / pairs[:, 0]).min() > 2
