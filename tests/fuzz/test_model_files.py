"""Model files that were changed: the same answers or a refusal, and nothing in them is run."""

import io
import json
import os
import sys
import zipfile
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.models_target import judge, judged, nothing_run, original, sealed
from fuzz.profiles import drawn

pytestmark = pytest.mark.slow  # many inputs are drawn, and a model is read from each


@drawn(120)
@given(data=st.binary(min_size=4, max_size=40))
def test_a_changed_model_answers_the_same_or_is_refused(data):
    judge(data)


@drawn(60)
@given(place=st.floats(0, 1), what=st.integers(1, 255))
def test_a_byte_that_was_changed_is_found_by_the_seal(place, what):
    content = bytearray(original()[0])
    content[round(place * (len(content) - 1))] ^= what
    assert judged(bytes(content), is_sealed=False) != "the same"


@drawn(30)
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_that_was_cut_off_is_refused(share):
    content = original()[0]
    assert judged(content[: int(share * len(content))], is_sealed=False) != "the same"


def test_the_file_itself_answers_the_same():
    assert judged(original()[0], is_sealed=False) == "the same"


@pytest.mark.parametrize("versions", [[], ["ab"], "skops", 3, None], ids=repr)
def test_versions_that_are_no_object_are_refused(versions):
    first, _, facts, archive = original()[0].split(b"\n", 3)
    changed = json.dumps({**json.loads(facts), "versions": versions, "roles": {}}).encode()
    assert "third line" in judged(sealed(first, changed, archive), is_sealed=True)


def test_parts_that_do_not_fit_together_are_refused_when_they_are_used():
    # All arrays of numbers are cut to one entry: the file loads, and nothing in it fits anything else.
    first, _, facts, archive = original()[0].split(b"\n", 3)
    after = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as before, zipfile.ZipFile(after, "w") as changed:
        for name in before.namelist():
            content = before.read(name)
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(content), allow_pickle=False)
                shortened = io.BytesIO()
                np.save(shortened, array.reshape(-1)[:1])
                content = shortened.getvalue()
            changed.writestr(name, content)
    ended = judged(sealed(first, facts, after.getvalue()), is_sealed=True)
    assert "has no answer for this table" in ended or "cannot be loaded" in ended


def write_to(path):
    with open(path, "w"):
        pass


@pytest.mark.parametrize(
    "run",
    [lambda: eval("1 + 1"), lambda: import_module("colorsys"), lambda: write_to(os.devnull)],
    ids=["evaluated", "imported", "written"],
)
def test_the_watch_sees_what_is_run(run):
    sys.modules.pop("colorsys", None)  # a small module of Python's own that another test may have imported
    with pytest.raises(AssertionError, match="while a model was loaded"), nothing_run():
        run()
