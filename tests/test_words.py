"""Numbers and their nouns."""

import pytest

from semikpca._words import counted


@pytest.mark.parametrize(
    ("number", "nouns", "expected"),
    [
        (0, ("row",), "0 rows"),
        (1, ("row",), "1 row"),
        (2, ("row",), "2 rows"),
        (12_345, ("row",), "12,345 rows"),
        (1, ("class", "classes"), "1 class"),
        (3, ("class", "classes"), "3 classes"),
    ],
)
def test_a_noun_has_the_form_that_its_number_asks_for(number, nouns, expected):
    assert counted(number, *nouns) == expected
