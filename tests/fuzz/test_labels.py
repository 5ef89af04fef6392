"""Labels of every kind: right answers or a refusal that names the problem."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.labels_target import CONTAINERS, LABELS, MOST_ROWS, contained, judged
from fuzz.profiles import drawn

pytestmark = pytest.mark.slow  # many inputs are drawn

containers = st.sampled_from(list(CONTAINERS))


@st.composite
def few_kinds(draw):
    """Labels that repeat, as labels do: many rows of up to four different values."""
    kinds = draw(st.lists(st.sampled_from(LABELS), min_size=1, max_size=4))
    return draw(st.lists(st.sampled_from(kinds), max_size=MOST_ROWS))


anything = st.one_of(
    st.text(max_size=5),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.binary(max_size=3),
    st.none(),
    st.datetimes(),
    st.fractions(),
    st.decimals(),
    st.complex_numbers(),
    st.tuples(st.integers()),
)


@drawn(200)
@given(labels=few_kinds(), container=containers)
def test_odd_labels_in_any_container_are_answered_or_refused(labels, container):
    y = contained(container, labels)
    if y is not None:
        judged(y, len(labels))


@drawn(60)
@given(labels=st.lists(anything, max_size=8), container=containers)
def test_any_values_at_all_are_answered_or_refused(labels, container):
    y = contained(container, labels)
    if y is not None:
        judged(y, len(labels))


@drawn(40)
@given(labels=st.lists(st.sampled_from([0, 1, -1]), max_size=MOST_ROWS), n_rows=st.integers(1, MOST_ROWS))
def test_a_wrong_number_of_labels_is_always_refused(labels, n_rows):
    ends = judged(labels, n_rows)
    if len(labels) != n_rows:
        assert "answered" not in ends.values()


@drawn(60)
@given(labels=st.lists(st.sampled_from(["a", "b", "c", None]), min_size=3, max_size=MOST_ROWS))
def test_plain_labels_are_always_answered(labels):
    labels = ["a", "b", *labels]
    n_rows = min(len(labels), MOST_ROWS)
    ends = judged(labels[:n_rows], n_rows)
    assert ends["SemiKPCAClassifier"] == ends["SemiKPCAClassifierCV"] == "answered"
    assert (ends["LSSVMClassifier"] == "answered") == (None not in labels[:n_rows])
