"""Inputs that once broke something, and a few plain ones: each ends as it should.

``corpus/TARGET`` has one file for each, named for what it shows. The fuzzer begins with the same files.
"""

from importlib import import_module
from pathlib import Path

import pytest

from fuzz.tables_target import judged as judged_table

CORPUS = Path(__file__).parent / "corpus"
ANSWERED = "answered"
TOO_SMALL = "are too small for float"

# How each ends: answered, or refused with a message that has these words.
TABLES = {
    "bytes_in_cells.parquet": ANSWERED,
    "cells_that_are_no_text.parquet": "is not a Parquet file, or it is damaged",
    "empty_objects_in_cells.jsonl": "a Parquet file cannot hold these cells",
    "extended_precision.npy": "tables take float64 at most",
    "header_that_is_no_python.npy": "is not a NumPy file, or it is damaged",
    "signaling_nan.npy": ANSWERED,
    "spans_of_time.npz": ANSWERED,
    "whole_number_of_400_digits.jsonl": "a whole number of more than 308 digits",
    "whole_number_of_400_digits_beside_truth_values.jsonl": "a whole number of more than 308 digits",
    "whole_numbers_beyond_64_bits.jsonl": ANSWERED,
    "zip_of_a_later_version.xlsx": "is not an Excel workbook",
    **{f"seed.{suffix}": ANSWERED for suffix in ("csv", "tsv", "jsonl", "npy", "npz", "xlsx", "parquet")},
}
MATRICES = {
    "decisions_of_a_tiny_matrix": TOO_SMALL,
    "float32_multipliers_beyond_its_range": TOO_SMALL,
    "float32_without_components_removed": TOO_SMALL,
    "infinities_of_both_signs": "contains infinity",
    "rank_of_a_tiny_matrix": TOO_SMALL,
    "seed_product": ANSWERED,
    "subnormal_numbers": TOO_SMALL,
}
# How SemiKPCAClassifier ends.
LABELS = {
    "column_of_text_and_numbers": "The labels mix a number and str",
    "large_number_beside_a_fraction": "would become 9.22",
    "long_numbers_beside_nan": ANSWERED,
    "null_character_at_the_end": "would become 'a' in an array",
    "ranges": "Labels of type range cannot be sorted",
    "seed_numbers": ANSWERED,
    "seed_text": ANSWERED,
    "span_of_time_beside_a_number": "The labels mix a number and timedelta64",
    "tuples_of_different_lengths": "Labels of type tuple cannot be sorted",
    "tuples_of_the_same_length": "Labels of type tuple cannot be sorted",
}
MODELS = {
    "seed_cut_off": "is not a model of semikpca",
    "seed_unchanged_values": "the same",
}
ENDS = {"tables": TABLES, "matrices": MATRICES, "labels": LABELS, "models": MODELS}


@pytest.mark.parametrize(("target", "name"), [(target, name) for target, ends in ENDS.items() for name in ends])
def test_an_input_ends_as_it_should(target, name):
    path = CORPUS / target / name
    if target == "tables":
        ended = judged_table(path.read_bytes(), path.suffix)
    else:
        ended = import_module(f"fuzz.{target}_target").judge(path.read_bytes())
    ended = ended["SemiKPCAClassifier"] if target == "labels" else ended
    assert ENDS[target][name] in ended


@pytest.mark.parametrize("target", ENDS)
def test_every_file_of_the_corpus_is_named_here(target):
    assert {path.name for path in (CORPUS / target).iterdir()} == set(ENDS[target])
