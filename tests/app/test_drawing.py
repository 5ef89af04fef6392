"""Which labels count as drawn at random."""

import numpy as np
import pytest

from semikpca.app._drawing import Drawing, mixed
from semikpca.labels import UNLABELED

N_ROWS = 40
NOTHING = np.array([], dtype=np.intp)


@pytest.fixture
def given():
    """Codes of which the first five rows have one."""
    codes = np.full(N_ROWS, UNLABELED)
    codes[:5] = 0
    return codes


def test_every_row_is_drawn_once_but_those_that_nothing_is_known_of():
    drawing = Drawing.begin(N_ROWS, [], np.array([3, 30]))
    assert sorted(drawing.order.tolist()) == [row for row in range(N_ROWS) if row not in (3, 30)]


def test_the_order_does_not_follow_that_of_the_table():
    # Of all orders, one in many thousands has ranks that agree with the places of the rows this much.
    order = Drawing.begin(2_000, [], NOTHING).order
    assert abs(np.corrcoef(order, np.arange(2_000))[0, 1]) < 4 / np.sqrt(2_000)


def test_checks_have_no_label_and_stay_until_they_have_one(given):
    drawing = Drawing.begin(N_ROWS, range(5), NOTHING)
    first, second, third = drawing.checks(given)
    assert all(given[row] == UNLABELED for row in (first, second, third))
    given[second] = 1
    assert drawing.checks(given)[:2] == (first, third)
    given[:] = 0
    assert drawing.checks(given) == ()


def test_labels_of_the_table_and_of_checks_count_and_no_others(given):
    drawing = Drawing.begin(N_ROWS, range(5), np.array([4]))
    given[[10, 20]] = 1
    counts, others = drawing.with_rows([20]).split(given)
    assert counts.tolist() == [0, 1, 2, 3, 20]
    assert others.tolist() == [4, 10]


def test_who_labels_the_first_row_of_every_list_labels_three_checks_in_ten(given):
    drawing, checked = Drawing.begin(N_ROWS, range(5), NOTHING), 0
    for number in range(20):
        checks = drawing.checks(given)
        suggested = np.flatnonzero(given == UNLABELED)[:7].tolist()
        first = mixed(suggested, checks, number)[0]
        checked += first in checks
        given[first] = 0
    assert checked == 6


@pytest.mark.parametrize("n_before", [-3, 0, 5, 99])
def test_a_list_has_each_row_once_with_suggestions_best_first(n_before):
    rows = mixed([5, 6, 7, 8], [7, 9], n_before)
    assert sorted(rows) == [5, 6, 7, 8, 9]
    assert [row for row in rows if row not in (7, 9)] == [5, 6, 8]
