"""Files of the user's: what is read, and what is refused with file, value, limit and remedy."""

import hashlib
import zipfile

import numpy as np
import pytest

from semikpca.exceptions import DatasetError
from semikpca_benchmarks.datasets import _array_file, scaled, scaling_of
from semikpca_benchmarks.datasets._array_file import read_array_file

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 0, 1, 1, 2, 2])


@pytest.fixture
def file(tmp_path):
    """A function that writes arrays into a file and returns its path."""

    def write(**arrays):
        path = tmp_path / "mails.npz"
        np.savez(path, **arrays)
        return path

    return write


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8, np.uint16, np.int64, bool])
def test_numbers_of_any_type_become_float64(file, kind):
    found = read_array_file(file(X=X.astype(kind), y=Y)).data
    assert found.X.dtype == np.float64
    np.testing.assert_array_equal(found.X, X.astype(kind))
    assert found.name == "mails"


@pytest.mark.parametrize(
    ("y", "names", "codes"),
    [
        (Y.astype(np.int8), ("0", "1", "2"), Y),
        (Y.astype(np.uint64) * 5, ("0", "5", "10"), Y),  # in the order of the numbers, not of their digits
        (Y > 0, ("False", "True"), [0, 0, 1, 1, 1, 1]),
        (np.array(["spam", "ham"] * 3), ("ham", "spam"), [1, 0] * 3),
        (np.array([b"spam", b"h\xc3\xa4m"] * 3), ("häm", "spam"), [1, 0] * 3),
    ],
)
def test_classes_are_whole_numbers_from_0_on_or_strings(file, y, names, codes):
    found = read_array_file(file(X=X, y=y)).data
    assert found.class_names == names
    assert found.y.tolist() == list(codes)


def test_the_checksum_is_that_of_the_file(file):
    path = file(X=X, y=Y)
    assert read_array_file(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("scale", ["standardize", "none"])
def test_a_file_may_say_how_it_is_scaled_and_hold_other_arrays(file, scale):
    assert read_array_file(file(X=X, y=Y, scale=scale, texts=np.array(["a"]))).scaling == scale
    assert read_array_file(file(X=X, y=Y)).scaling is None


def test_arrays_that_are_not_asked_for_are_not_even_loaded(file):
    path = file(X=X, y=Y, notes=np.array([{"a": 1}], dtype=object))
    assert len(read_array_file(path).data.y) == 6


SINGLE = np.array([0, 0, 0, 1, 1, 2])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": X}, r"mails\.npz has no array y; it has X\. It needs X and y"),
        ({"Z": X}, r"mails\.npz has no array X; it has Z"),
        ({"X": X[0], "y": Y}, r"X must be a table of numbers.*shape \(2,\) and the type float64"),
        ({"X": X[:0], "y": Y[:0]}, r"X must be a table of numbers.*shape \(0, 2\)"),
        ({"X": X.astype(str), "y": Y}, r"X must be a table of numbers.*type <U"),
        ({"X": X.astype(complex), "y": Y}, r"X must be a table of numbers.*type complex"),
        ({"X": np.where(X == 5, np.nan, X), "y": Y}, r"X has nan in row 2, column 1 \(1 of 12 values.*Fill them in"),
        ({"X": np.where(X == 0, np.inf, X), "y": Y}, r"X has inf in row 0, column 0"),
        ({"X": X, "y": Y[:4]}, r"X has 6 rows and y has 4 entries"),
        ({"X": X, "y": Y[:, None]}, r"whole number from 0 on, or a string.*shape \(6, 1\).*astype\(int\)"),
        ({"X": X, "y": Y.astype(float)}, r"whole number from 0 on, or a string.*type float64"),
        ({"X": X, "y": np.array([0, 0, 1, 1, -1, -1])}, r"y has -1 in row 4 \(2 of 6 rows\).*without a class out"),
        ({"X": X, "y": np.array(["a", "", "a", "b", "b", "b"])}, r"y has '' in row 1 \(1 of 6 rows\)"),
        ({"X": X, "y": np.array([b"a", b"\xff"] * 3)}, r"y has bytes that are no UTF-8.*astype\(str\)"),
        ({"X": X, "y": np.zeros(6, dtype=int)}, r"has 1 class; a classifier needs at least 2"),
        ({"X": X, "y": SINGLE}, r"has 1 of 6 rows of class '2'; a class needs at least 2.*Leave the class out"),
        ({"X": X, "y": Y, "scale": "minmax"}, r"scale must be one of 'standardize', 'none', got 'minmax'"),
        ({"X": X, "y": Y, "scale": np.array(["none"])}, r"scale must be one of .*got \['none'\]"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_with_the_value_and_the_remedy(file, arrays, message):
    with pytest.raises(DatasetError, match=rf"mails\.npz.*{message}" if "mails" not in message else message):
        read_array_file(file(**arrays))


@pytest.mark.parametrize("name", ["X", "y"])
def test_python_objects_are_never_loaded(file, name):
    class Trap:
        def __reduce__(self):
            return (print, ("loading this runs code",))

    arrays = {"X": X, "y": Y, name: np.array([Trap()] * 6, dtype=object)}
    with pytest.raises(DatasetError, match=r"mails\.npz holds Python objects, which can run code.*astype\(str\)"):
        read_array_file(file(**arrays))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"a,b\n1,2\n"])
def test_a_file_that_is_no_archive_is_refused(tmp_path, content):
    path = tmp_path / "mails.npz"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=r"mails\.npz is no \.npz file of NumPy, or is damaged.*savez_compressed"):
        read_array_file(path)


def test_a_damaged_array_is_refused(file):
    path = file(X=X, y=Y)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", b"no array")
        archive.writestr("y.npy", b"no array")
    with pytest.raises(DatasetError, match=r"mails\.npz is no .* damaged \(.*one of its arrays has no header\)"):
        read_array_file(path)


def test_a_file_that_would_fill_the_memory_is_refused_before_it_is_unpacked(file, monkeypatch):
    path = file(X=np.zeros((2000, 100)), y=np.arange(2000) % 2)
    monkeypatch.setattr(_array_file, "_MOST_BYTES", 2**20)
    with pytest.raises(DatasetError, match=r"unpacks to 0\.0 GiB, and 0 are read at most\. Store fewer rows"):
        read_array_file(path)


@pytest.mark.parametrize(
    ("rows", "scaling"),
    [
        ([[0.6, 0.8], [1.0, 0.0]], "none"),  # unit rows
        (np.array([[1.0, 0.0]]) * 1.0005, "none"),  # a unit row that was stored with 16 bits
        ([[0.0, 0.0], [0.6, -0.8]], "none"),  # a text without a known word
        ([[0.2, 1.0]], "none"),
        ([[-1.0, 0.3]], "none"),
        ([[1.0, 2.0]], "standardize"),
        ([[0.5, -1.1]], "standardize"),
        ([[36.6, 180.0]], "standardize"),
    ],
)
def test_values_within_1_stay_and_all_others_are_standardized(rows, scaling):
    assert scaling_of(np.array(rows)) == scaling


def test_scaling_brings_columns_to_mean_0_and_variance_1_and_leaves_constant_ones():
    table = np.array([[1.0, 7.0, 10.0], [2.0, 7.0, 30.0], [3.0, 7.0, 20.0]])
    found = scaled(table, "standardize")
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(found.std(axis=0), [1, 0, 1], atol=1e-15)
    assert scaled(table, "none") is table
    np.testing.assert_array_equal(scaled(table, "pixels"), table / 16)
