"""Labels outside (-1, None, NaN) and codes and signed targets inside."""

import dataclasses
import decimal
import enum
from collections import namedtuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from semikpca.labels import (
    UNLABELED,
    LabelCoding,
    class_scores,
    encode,
    encode_all,
    from_signs,
    only_of_class,
    predicted_codes,
    signed_targets,
    unlabeled_mask,
)

NAN = float("nan")


def objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


# Every way to write "second class, unlabeled, first class, second class", and the kind of the classes that come out.
SAME_LABELS = {
    "integers with -1": (np.array([7, -1, 3, 7]), [3, 7], "i"),
    "int8 with -1": (np.array([7, -1, 3, 7], dtype=np.int8), [3, 7], "i"),
    "list of integers with -1": ([7, -1, 3, 7], [3, 7], "i"),
    "tuple of integers with -1": ((7, -1, 3, 7), [3, 7], "i"),
    "list of integers with None": ([7, None, 3, 7], [3, 7], "i"),
    "list of integers with NaN": ([7, NAN, 3, 7], [3, 7], "f"),
    "list of NumPy integers with -1": ([np.int64(7), np.int64(-1), np.int64(3), np.int64(7)], [3, 7], "i"),
    "list of NumPy integers with None": ([np.int64(7), None, np.int64(3), np.int64(7)], [3, 7], "i"),
    "objects, integers with -1": (objects(7, -1, 3, 7), [3, 7], "i"),
    "objects, integers with None": (objects(7, None, 3, 7), [3, 7], "i"),
    "objects, NumPy integers with -1": (
        objects(np.int64(7), np.int64(-1), np.int64(3), np.int64(7)),
        [3, 7],
        "i",
    ),
    "objects, NumPy integers and int": (objects(np.int64(7), None, 3, 7), [3, 7], "i"),
    "floats with NaN": (np.array([7, NAN, 3, 7]), [3, 7], "f"),
    "float32 with NaN": (np.array([7, NAN, 3, 7], dtype=np.float32), [3, 7], "f"),
    "floats with -1": (np.array([7.0, -1.0, 3.0, 7.0]), [3, 7], "f"),
    "objects, float32 with NaN": (
        objects(np.float32(7), np.float32(NAN), np.float32(3), np.float32(7)),
        [3, 7],
        "f",
    ),
    "objects, int and float": (objects(7, None, 3.0, 7), [3, 7], "f"),
    "booleans with None": ([True, None, False, True], [False, True], "b"),
    "NumPy booleans with None": ([np.True_, None, np.False_, np.True_], [False, True], "b"),
    "strings with None": (["dog", None, "cat", "dog"], ["cat", "dog"], "U"),
    "strings with NaN": (["dog", NAN, "cat", "dog"], ["cat", "dog"], "U"),
    "strings with float32 NaN": (["dog", np.float32(NAN), "cat", "dog"], ["cat", "dog"], "U"),
    "strings with -1": (["dog", -1, "cat", "dog"], ["cat", "dog"], "U"),
    "objects, strings with None": (objects("dog", None, "cat", "dog"), ["cat", "dog"], "U"),
    "NumPy strings with None": ([np.str_("dog"), None, np.str_("cat"), np.str_("dog")], ["cat", "dog"], "U"),
    "str and NumPy strings": ([np.str_("dog"), None, "cat", "dog"], ["cat", "dog"], "U"),
    "dates with NaT": (
        np.array(["2002-02-02", "NaT", "2001-01-01", "2002-02-02"], dtype="datetime64[D]"),
        [np.datetime64("2001-01-01"), np.datetime64("2002-02-02")],
        "M",
    ),
    "pandas strings with None": (pd.Series(["dog", None, "cat", "dog"]), ["cat", "dog"], "U"),
    "pandas objects with None": (pd.Series(["dog", None, "cat", "dog"], dtype=object), ["cat", "dog"], "U"),
    "pandas string with NA": (pd.Series(["dog", pd.NA, "cat", "dog"], dtype="string"), ["cat", "dog"], "U"),
    "pandas Int64 with NA": (pd.Series([7, pd.NA, 3, 7], dtype="Int64"), [3, 7], "if"),
    "pandas Int64 with -1": (pd.Series([7, -1, 3, 7], dtype="Int64"), [3, 7], "i"),
    "pandas Float64 with NA": (pd.Series([7, pd.NA, 3, 7], dtype="Float64"), [3, 7], "f"),
    "pandas boolean with NA": (pd.Series([True, pd.NA, False, True], dtype="boolean"), [False, True], "b"),
    "pandas category with None": (pd.Series(["dog", None, "cat", "dog"], dtype="category"), ["cat", "dog"], "U"),
    "pandas category of integers": (pd.Series([7, -1, 3, 7], dtype="category"), [3, 7], "i"),
    "pandas Categorical": (pd.Categorical(["dog", None, "cat", "dog"]), ["cat", "dog"], "U"),
    "polars strings with null": (pl.Series(["dog", None, "cat", "dog"]), ["cat", "dog"], "U"),
    "polars integers with null": (pl.Series([7, None, 3, 7]), [3, 7], "if"),
    "polars integers with -1": (pl.Series([7, -1, 3, 7]), [3, 7], "i"),
    "polars booleans with null": (pl.Series([True, None, False, True]), [False, True], "b"),
    "polars categories with null": (
        pl.Series(["dog", None, "cat", "dog"], dtype=pl.Categorical),
        ["cat", "dog"],
        "U",
    ),
}


@pytest.mark.parametrize("name", SAME_LABELS)
def test_every_way_to_write_labels_gives_the_same_codes(name):
    y, classes, kinds = SAME_LABELS[name]
    coding = encode(y)
    assert coding.classes.tolist() == np.array(classes).tolist()
    assert coding.classes.dtype.kind in kinds
    assert coding.codes.tolist() == [1, -1, 0, 1]
    assert coding.codes.dtype == np.intp


@pytest.mark.parametrize("dtype", [bool, "U3", np.uint8, np.int32])
def test_types_without_a_missing_value_have_all_rows_labeled(dtype):
    y = np.array([1, 0, 1]).astype(dtype)
    assert encode(y).codes.tolist() == [1, 0, 1]


def test_the_largest_unsigned_number_is_a_class_though_it_has_the_bits_of_minus_one():
    assert encode(np.array([255, 3], dtype=np.uint8)).classes.tolist() == [3, 255]


@pytest.mark.parametrize("y", [[-1.0, NAN, 2.0], [-1, None, 2], objects(-1.0, NAN, 2.0)], ids=str)
def test_minus_one_is_a_class_where_none_or_nan_marks_unlabeled_rows(y):
    coding = encode(y)
    assert coding.classes.tolist() == [-1, 2]
    assert coding.codes.tolist() == [0, -1, 1]


def test_the_string_minus_one_is_a_class():
    assert encode(np.array(["-1", "1"])).classes.tolist() == ["-1", "1"]


def test_the_string_nan_is_a_class():
    assert encode(["nan", None, "b"]).classes.tolist() == ["b", "nan"]


def test_classes_are_sorted_and_may_have_gaps():
    coding = encode([7, 0, -1, 2])
    assert coding.classes.tolist() == [0, 2, 7]
    assert coding.codes.tolist() == [2, 0, -1, 1]


def test_large_integers_stay_exact():
    assert encode([2**62 + 1, 2**62, None]).classes.tolist() == [2**62, 2**62 + 1]


@pytest.mark.parametrize("y", [[-1, -1], [None, None], [NAN, NAN], np.array([-1.0, -1.0]), []], ids=str)
def test_no_label_at_all_is_refused(y):
    with pytest.raises(ValueError, match=rf"all {len(y)} rows.*Label at least one"):
        encode(y)


@pytest.mark.parametrize(
    ("y", "kinds"),
    [
        ([1, "a", None], ["a number", "str"]),
        ([True, 2, None], ["a number", "bool"]),
        ([True, "a"], ["bool", "str"]),
        (objects("a", 1.5), ["a number", "str"]),
    ],
    ids=str,
)
def test_mixed_label_types_are_refused_by_name(y, kinds):
    with pytest.raises(ValueError, match="Convert all labels to one type") as caught:
        encode(y)
    for kind in kinds:
        assert kind in str(caught.value)
    assert repr(y[0]) in str(caught.value)


@pytest.mark.parametrize("given", [encode, encode_all])
def test_infinity_is_no_label(given):
    with pytest.raises(ValueError, match=r"infinity.*Mark unlabeled rows with NaN"):
        given(np.array([1.0, np.inf, 2.0]))


@pytest.mark.parametrize("given", [encode, encode_all])
def test_real_numbers_are_no_classes(given):
    with pytest.raises(ValueError, match="continuous"):
        given([0.5, 1.25, 2.0])


@pytest.mark.parametrize("given", [encode, encode_all])
def test_bytes_are_refused_with_a_way_out(given):
    with pytest.raises(TypeError, match=r"bytes.*Convert"):
        given([b"a", b"b"])


class Animal(enum.Enum):
    CAT = 1
    DOG = 2


@pytest.mark.parametrize(
    ("labels", "type_name"),
    [([decimal.Decimal(1), decimal.Decimal(2)], "Decimal"), ([Animal.CAT, Animal.DOG], "Animal")],
    ids=["Decimal", "Enum"],
)
@pytest.mark.parametrize("given", [encode, encode_all])
def test_labels_of_an_unknown_type_are_refused_by_the_name_of_the_type(given, labels, type_name):
    with pytest.raises(ValueError, match=type_name):
        given(labels)


@pytest.mark.parametrize("given", [encode, encode_all])
def test_a_table_of_labels_is_refused_with_its_shape(given):
    with pytest.raises(ValueError, match=r"1d array.*\(3, 2\)"):
        given(np.zeros((3, 2), dtype=int))


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    "y", [[[0], [0, 1]], [(1, 2), None, (3, 4)], [Pair(1, 2), None]], ids=["ragged", "tuples", "named"]
)
@pytest.mark.parametrize("given", [encode, encode_all])
def test_labels_that_are_collections_are_refused_as_labels(given, y):
    with pytest.raises(ValueError, match=r"label|y should be"):
        given(y)


@pytest.mark.parametrize("y", [3, "abc", {1, 2}, np.array(3)], ids=str)
def test_something_that_is_no_collection_is_refused(y):
    with pytest.raises(ValueError, match="1d array"):
        encode(y)


def test_a_column_vector_is_read_with_a_warning():
    with pytest.warns(DataConversionWarning):
        coding = encode(np.array([[0], [-1], [1]]))
    assert coding.codes.tolist() == [0, -1, 1]


@pytest.mark.parametrize("y", [[1, None], objects("a", None), np.array([1.0, NAN]), np.array([1, -1])], ids=str)
def test_encode_leaves_its_input_alone(y):
    before = repr(y)
    encode(y)
    assert repr(y) == before


# -- every row labeled -------------------------------------------------------------------------------------------------


def test_minus_one_is_a_class_where_every_row_has_a_label():
    coding = encode_all([-1, 1, -1])
    assert coding.classes.tolist() == [-1, 1]
    assert coding.codes.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "y",
    [
        [1, None, 2, None],
        ["a", None, "b", None],
        np.array([1, NAN, 2, NAN]),
        ["a", NAN, "b", NAN],
        objects(np.float32(1), np.float32(NAN), np.float32(2), np.float32(NAN)),
        pd.Series([1, pd.NA, 2, pd.NA], dtype="Int64"),
        pl.Series(["a", None, "b", None]),
        np.array(["2001-01-01", "NaT", "2002-02-02", "NaT"], dtype="datetime64[D]"),
    ],
    ids=["int", "str", "float", "str nan", "float32 objects", "pandas", "polars", "dates"],
)
def test_missing_labels_are_refused_with_their_number_where_every_row_needs_one(y):
    with pytest.raises(ValueError, match=r"2 of 4 rows.*Drop the unlabeled rows"):
        encode_all(y)


@pytest.mark.parametrize("y", [["b", "a"], [True, False], np.array([2.0, 1.0]), (1, 0)], ids=str)
def test_encode_all_reads_every_type(y):
    assert encode_all(y).codes.tolist() == [1, 0]


# -- the mask ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "mask"),
    [
        (np.array([-1, 0, 1]), [True, False, False]),
        (np.array([0, 1], dtype=np.uint8), [False, False]),
        (np.array([-1.0, 2.0]), [True, False]),
        (np.array([-1.0, NAN]), [False, True]),
        (objects(-1, 2), [True, False]),
        (objects(np.int64(-1), np.int64(2)), [True, False]),
        (objects(-1, None), [False, True]),
        (objects("a", NAN), [False, True]),
        (objects("a", np.float32(NAN)), [False, True]),
        (objects("a", pd.NA), [False, True]),
        (objects("a", pd.NaT), [False, True]),
        (objects("-1", "a"), [False, False]),
        (np.array(["-1", "a"]), [False, False]),
        (np.array([True, False]), [False, False]),
        (np.array(["2001-01-01", "NaT"], dtype="datetime64[D]"), [False, True]),
    ],
    ids=str,
)
def test_unlabeled_mask_follows_one_rule_for_every_type(values, mask):
    found = unlabeled_mask(values)
    assert found.dtype == bool
    assert found.tolist() == mask


# -- the coding --------------------------------------------------------------------------------------------------------


def test_labeled_rows_are_ascending_row_numbers():
    coding = encode([-1, 5, -1, 3, 5])
    assert coding.labeled_rows.tolist() == [1, 3, 4]
    assert coding.n_classes == 2


def test_a_coding_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        encode([0, 1]).classes = np.array([1, 2])


@pytest.mark.parametrize(
    ("y", "further", "codes"),
    [
        ([0, 7, -1], [7, -1, 0], [1, -1, 0]),
        ([0, 7, -1], [7.0, NAN], [1, -1]),
        ([0, 7, -1], [7, None], [1, -1]),
        ([0, 7, -1], np.array([0, 7], dtype=np.int8), [0, 1]),
        (["a", "b"], ["b", None, "a"], [1, -1, 0]),
        (["a", "b"], np.array(["b", "a"]), [1, 0]),
        (["a", "b"], ["b", -1], [1, -1]),
        (["a", "b"], pd.Series(["b", pd.NA], dtype="string"), [1, -1]),
        (["a", "b"], ["b", np.float32(NAN)], [1, -1]),
        ([True, False], [False, None], [0, -1]),
        ([-1.0, NAN, 2.0], [-1.0, 2.0, NAN], [0, 1, -1]),
    ],
    ids=str,
)
def test_further_labels_get_the_codes_of_the_fitted_classes(y, further, codes):
    assert encode(y).encode(further).tolist() == codes


@pytest.mark.parametrize(
    ("y", "stranger"), [([0, 1], 5), (["a", "b"], "c"), ([True, False], "a"), ([0, 1], 0.5)], ids=str
)
def test_a_label_that_was_never_seen_is_refused_by_name(y, stranger):
    with pytest.raises(ValueError, match=r"never seen.*Fit again") as caught:
        encode(y).encode([stranger])
    assert repr(stranger) in str(caught.value)
    assert repr(encode(y).classes.tolist()[0]) in str(caught.value)


def test_a_long_list_of_classes_is_cut_short_in_the_message():
    with pytest.raises(ValueError, match=r"0, 1, 2, 3, 4, 5, 6, 7, … \(20 classes\)"):
        encode(list(range(20))).encode([99])


def test_decode_gives_back_the_labels():
    y = np.array(["b", "a", "c", "a"])
    coding = encode(y)
    assert coding.decode(coding.codes).tolist() == y.tolist()


# -- signed targets ----------------------------------------------------------------------------------------------------


def test_two_classes_share_one_column_that_is_positive_for_the_last():
    assert signed_targets(np.array([0, -1, 1]), 2).tolist() == [[-1], [0], [1]]


def test_one_class_is_positive():
    assert signed_targets(np.array([0, -1]), 1).tolist() == [[1], [0]]


def test_more_classes_get_a_column_each():
    expected = [[1, -1, -1], [0, 0, 0], [-1, -1, 1], [-1, 1, -1]]
    assert signed_targets(np.array([0, -1, 2, 1]), 3).tolist() == expected


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_signed_targets_have_the_type_that_was_asked_for(dtype, n_classes):
    assert signed_targets(np.array([0, -1]), n_classes, dtype).dtype == dtype


@pytest.mark.parametrize("n_classes", [1, 2, 3, 5])
def test_signed_targets_read_as_decisions_give_back_the_codes(n_classes):
    codes = np.arange(n_classes)
    assert predicted_codes(signed_targets(codes, n_classes), n_classes).tolist() == codes.tolist()


# -- decisions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decision", [np.array([-2.0, 0.0, 3.0]), np.array([[-2.0], [0.0], [3.0]])], ids=["flat", "column"]
)
def test_two_classes_are_told_apart_by_the_sign(decision):
    assert predicted_codes(decision, 2).tolist() == [0, 0, 1]


def test_one_class_is_predicted_whatever_the_decision():
    assert predicted_codes(np.array([-2.0, 3.0]), 1).tolist() == [0, 0]


def test_many_classes_are_told_apart_by_the_largest_decision():
    assert predicted_codes(np.array([[0.1, 0.3, 0.2], [-1.0, -3.0, -2.0]]), 3).tolist() == [1, 0]


@pytest.mark.parametrize("decision", [np.array([-2.0, 3.0]), np.array([[-2.0], [3.0]])], ids=["flat", "column"])
def test_scores_of_two_classes_are_the_decision_with_both_signs(decision):
    assert class_scores(decision, 2).tolist() == [[2.0, -2.0], [-3.0, 3.0]]


def test_scores_of_one_class_are_one_column():
    assert class_scores(np.array([-2.0, 3.0]), 1).tolist() == [[-2.0], [3.0]]


def test_scores_of_many_classes_are_the_decisions():
    decision = np.array([[0.1, 0.3, 0.2]])
    np.testing.assert_array_equal(class_scores(decision, 3), decision)


@pytest.mark.parametrize("n_classes", [1, 2, 4])
def test_the_largest_score_is_the_predicted_class(n_classes):
    decision = np.random.default_rng(0).normal(size=(20, n_classes if n_classes > 2 else 1))
    expected = class_scores(decision, n_classes).argmax(axis=1)
    assert predicted_codes(decision, n_classes).tolist() == expected.tolist()


# -- the paper's coding ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [[-1, 0, 1], (-1, 0, 1), np.array([-1.0, 0.0, 1.0]), np.array([-1, 0, 1], dtype=np.int8), pd.Series([-1, 0, 1])],
    ids=str,
)
def test_from_signs_turns_the_coding_of_the_paper_into_labels(y):
    labels = from_signs(y)
    assert labels.tolist() == [0, -1, 1]
    assert labels.dtype.kind == "i"


def test_from_signs_gives_what_encode_reads():
    coding = encode(from_signs([-1, 0, 1, 0, -1]))
    assert coding.classes.tolist() == [0, 1]
    assert signed_targets(coding.codes, 2)[:, 0].tolist() == [-1, 0, 1, 0, -1]


@pytest.mark.parametrize("stranger", [2, 0.5, NAN])
def test_from_signs_refuses_anything_else_by_value(stranger):
    with pytest.raises(ValueError, match="-1, 0 and \\+1 only") as caught:
        from_signs([-1, 0, stranger])
    assert str(stranger) in str(caught.value)


def test_from_signs_leaves_its_input_alone():
    y = np.array([-1, 0, 1])
    from_signs(y)
    assert y.tolist() == [-1, 0, 1]


def test_the_mark_of_unlabeled_rows_is_that_of_scikit_learn():
    assert UNLABELED == -1
    assert LabelCoding(np.array([0]), np.array([UNLABELED])).labeled_rows.size == 0


@pytest.mark.parametrize("labels", [list(range(30)), [f"kind {number}" for number in range(30)]], ids=["int", "str"])
def test_one_label_for_each_of_many_classes_is_no_regression(labels):
    # Warnings are errors here; scikit-learn's check would take so many classes for a regression.
    coding = encode(np.array([*labels, *([-1] if isinstance(labels[0], int) else [None])], dtype=object))
    assert coding.n_classes == 30


def test_the_only_label_of_its_class_is_told_from_the_others():
    assert only_of_class(np.array([2, 0, 2, 3, 0])).tolist() == [False, False, False, True, False]
    assert only_of_class(np.array([], dtype=np.intp)).tolist() == []


def test_a_coding_without_some_labels_is_that_of_the_others():
    coding = encode(["b", None, "c", "a", "c"])

    without = coding.without(np.array([0, 2]))

    wanted = encode([None, None, None, "a", "c"])
    assert without.classes.tolist() == wanted.classes.tolist() == ["a", "c"]
    assert without.codes.tolist() == wanted.codes.tolist() == [-1, -1, -1, 0, 1]
    assert coding.codes.tolist() == [1, -1, 2, 0, 2]


def test_a_coding_without_rows_that_have_no_label_is_the_same():
    coding = encode([1, -1, 0])
    assert coding.without(np.array([1])).codes.tolist() == coding.codes.tolist()


def test_a_coding_without_any_label_is_refused():
    with pytest.raises(ValueError, match="All 2 labels would be taken away"):
        encode([1, -1, 0]).without(np.array([0, 2]))
