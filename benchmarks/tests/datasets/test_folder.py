"""A folder of the user's: names, groups, scaling, the cut to fewer rows, and changed files."""

import json

import numpy as np
import pytest

from semikpca.exceptions import DatasetError
from semikpca_benchmarks.datasets import DataFolder, list_folder, load_folder_set, read_folder


def write(folder, name, n_rows=60, n_classes=2, seed=0, size=0.5, **arrays):
    generator = np.random.default_rng(seed)
    X = size * generator.uniform(-1, 1, (n_rows, 3))
    np.savez(folder / f"{name}.npz", **{"X": X, "y": np.arange(n_rows) % n_classes, **arrays})


@pytest.fixture
def folder(tmp_path):
    for name in ("news-words", "news-vectors", "cells", "mails"):
        write(tmp_path, name)
    (tmp_path / "README.md").write_text("not a data set")
    return tmp_path


def test_sets_are_the_files_by_name(folder):
    assert list_folder(folder).groups == {"folder": ("cells", "mails", "news-vectors", "news-words")}


def test_groups_come_from_a_file_and_from_options_which_count_more(folder):
    (folder / "groups.json").write_text(json.dumps({"text": ["news-*"], "small": ["cells"]}))
    assert list_folder(folder).groups["text"] == ("news-vectors", "news-words")
    found = list_folder(folder, ["text=mails, news-words", "vectors=*-vectors"]).groups
    assert list(found) == ["folder", "text", "small", "vectors"]
    assert found["text"] == ("mails", "news-words")
    assert found["small"] == ("cells",)


def test_a_set_knows_the_groups_that_it_is_in(folder):
    listing = list_folder(folder, ["text=news-*,mails", "all-of-it=*"])
    found = read_folder(listing, ["mails", "cells"])
    assert {info.name: info.groups for info in found.sets} == {
        "mails": ("folder", "text", "all-of-it"),
        "cells": ("folder", "all-of-it"),
    }


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("text", r"--group takes NAME=SET,SET such as .*, got 'text'"),
        ("text=", r"--group takes NAME=SET,SET"),
        ("text=nws-*", r"--group: no set of the folder is named 'nws-\*'; there are cells, mails"),
        ("paper=mails", r"--group: 'paper' cannot be the name of a group"),
        ("all=mails", r"'all' cannot be the name"),
        ("mails=cells", r"'mails' cannot be the name"),
        ("iris=cells", r"'iris' cannot be the name"),
        ("my texts=mails", r"'my texts' cannot be the name.*Choose another"),
    ],
)
def test_groups_that_cannot_be_are_refused(folder, option, message):
    with pytest.raises(DatasetError, match=message):
        list_folder(folder, [option])


@pytest.mark.parametrize("content", ["[", "[]", '{"text": "news-*"}', '{"text": []}', '{"text": [1]}'])
def test_a_file_of_groups_that_cannot_be_read_is_refused_by_name(folder, content):
    (folder / "groups.json").write_text(content)
    with pytest.raises(DatasetError, match=r"groups\.json"):
        list_folder(folder)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("iris", r"iris\.npz has the name of a set that comes with the benchmark, 'iris' of the group 'paper'. Rename"),
        ("glass6", r"glass6\.npz has the name of a set .* of the group 'rare'"),
        ("digits", r"digits\.npz has the name of a set"),
        ("rare", r"rare\.npz has the name of a group of the benchmark"),
        ("folder", r"folder\.npz has the name of a group"),
        ("my mails", r"my mails\.npz: the name of a set .*got 'my mails'. Rename"),
        ("a,b", r"a,b\.npz: the name of a set"),
        ("-x", r"-x\.npz: the name of a set"),
    ],
)
def test_names_that_are_taken_or_cannot_be_typed_are_refused_with_both_places(folder, name, message):
    write(folder, name)
    with pytest.raises(DatasetError, match=message):
        list_folder(folder)


def test_a_folder_that_is_none_or_has_no_set_is_refused(tmp_path):
    with pytest.raises(DatasetError, match=r"There is no folder .*nowhere, which --data names"):
        list_folder(tmp_path / "nowhere")
    with pytest.raises(DatasetError, match=r"has no file NAME\.npz"):
        list_folder(tmp_path)


def test_scaling_is_by_the_option_then_by_the_file_then_by_the_values(folder):
    write(folder, "wide", size=10)
    write(folder, "wide-told", size=10, scale="none")
    write(folder, "told", scale="standardize")
    listing = list_folder(folder)

    def scalings(**said):
        return {info.name: info.scaling for info in read_folder(listing, listing.names, **said).sets}

    usual = {
        "cells": "none", "mails": "none", "news-vectors": "none", "news-words": "none", "told": "standardize",
        "wide": "standardize", "wide-told": "none",
    }  # fmt: skip
    assert scalings() == usual
    assert scalings(standardize=["news-*", "wide-told"], as_is=["told"]) == {
        **usual, "news-vectors": "standardize", "news-words": "standardize", "wide-told": "standardize", "told": "none",
    }  # fmt: skip


def test_scaling_that_is_said_twice_or_of_no_set_is_refused(folder):
    listing = list_folder(folder)
    with pytest.raises(DatasetError, match="mails is named by both --standardize and --as-is"):
        read_folder(listing, ["cells"], standardize=["mails"], as_is=["m*"])
    with pytest.raises(DatasetError, match="--as-is: no set of the folder is named 'mail'"):
        read_folder(listing, ["cells"], as_is=["mail"])


def test_a_small_set_is_whole_and_a_large_one_a_sample_of_different_rows_that_is_always_the_same(folder):
    write(folder, "large", n_rows=500, n_classes=5)
    listing = list_folder(folder)
    found = read_folder(listing, ["mails", "large"], most_rows=100)
    mails, large = (load_folder_set(found, info) for info in found.sets)
    assert len(mails.y) == 60
    assert large.X.shape == (100, 3)
    assert tuple(np.bincount(large.y)) == found.sets[1].class_sizes
    rows = {tuple(row): label for row, label in zip(*np.load(folder / "large.npz").values(), strict=True)}
    kept = {tuple(row): label for row, label in zip(large.X, large.y, strict=True)}
    assert len(kept) == 100
    assert kept.items() <= rows.items()
    again = load_folder_set(found, found.sets[1])
    np.testing.assert_array_equal(again.X, large.X)
    assert "100 of 500 rows" in large.source


def test_the_sample_is_uniform(folder):
    write(folder, "large", n_rows=5000, n_classes=2)
    found = read_folder(list_folder(folder), ["large"], most_rows=1000)
    # Half of 1,000 rows with a standard deviation of 14 (drawn without replacement); four of them.
    assert found.sets[0].class_sizes[0] == pytest.approx(500, abs=57)


def test_a_class_that_the_sample_loses_is_told_with_the_option(folder):
    y = np.zeros(3000, dtype=int)
    y[:2] = 1
    write(folder, "large", n_rows=3000, y=y)
    assert read_folder(list_folder(folder), ["large"], most_rows=3000).sets[0].class_sizes == (2998, 2)
    with pytest.raises(DatasetError, match=r"cut from 3,000 to 30 rows, has 0 of 30 rows of class '1'.*--most-rows"):
        read_folder(list_folder(folder), ["large"], most_rows=30)


def test_a_file_that_changes_after_the_run_began_is_refused(folder):
    found = read_folder(list_folder(folder), ["mails"])
    write(folder, "mails", seed=1)
    with pytest.raises(DatasetError, match=r"mails\.npz has changed since the run began.*with --resume"):
        load_folder_set(found, found.sets[0])


def test_a_folder_comes_back_from_json_as_it_was(folder):
    listing = list_folder(folder, ["text=news-*"])
    found = read_folder(listing, ["mails"], most_rows=50, standardize=["mails"], groups=["text=news-*"])
    assert DataFolder.from_dict(json.loads(json.dumps(found.to_dict()))) == found
