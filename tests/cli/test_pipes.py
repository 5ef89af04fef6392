"""Commands in a pipe: a table comes in, a table of labels goes out, and what is said goes elsewhere."""

import csv
import io
import json
import subprocess
import sys

import pandas as pd
import pytest

from small_tables import make_plants

ADDED = ["predicted_label", "confidence", "label_was_given", "looks_wrong"]


def table(text, **options):
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, **options)


def test_standard_input_is_labeled_to_standard_output_and_the_rest_is_said_elsewhere(semikpca, plants, tmp_path):
    content = (tmp_path / "plants.csv").read_bytes()
    result = semikpca("label", "-", "-l", "kind", "--id-column", "plant", piped=content)
    assert result.exit_code == 0, result.output
    found = table(result.stdout)
    assert list(found.columns[-4:]) == ADDED
    assert (found["predicted_label"].to_numpy() == plants).mean() > 0.9
    assert "standard input: 90 rows" in result.stderr
    assert "Convexity certificate" in result.stderr
    assert semikpca("label", "plants.csv", "-l", "kind", "--id-column", "plant", "-o", "-").stdout == result.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plants.csv"]


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "parquet"])
def test_the_format_of_standard_input_is_found_and_text_comes_out(kind, semikpca, tmp_path):
    frame, _ = make_plants()
    if kind == "parquet":
        frame.to_parquet(tmp_path / "plants.parquet")
        content = (tmp_path / "plants.parquet").read_bytes()
    elif kind == "jsonl":
        content = frame.to_json(orient="records", lines=True)
    else:
        content = frame.to_csv(index=False, sep="\t")
    result = semikpca("label", "-", "-l", "kind", "--id-column", "plant", piped=content)
    assert result.exit_code == 0, result.output
    if kind == "jsonl":
        records = [json.loads(line) for line in result.stdout.splitlines()]
        assert list(records[0])[-4:] == ADDED
    else:
        found = table(result.stdout, sep="\t" if kind == "tsv" else ",")
        assert found["plant"].tolist() == frame["plant"].tolist()


def test_an_empty_pipe_and_a_broken_line_are_refused_by_name(semikpca):
    for content, message in (("", "standard input.csv is empty"), ("a,kind\n1\n", "standard input.csv, line 2")):
        result = semikpca("label", "-", "-l", "kind", piped=content)
        assert result.exit_code == 1
        assert message in result.stderr


def test_only_the_table_goes_to_standard_output(semikpca, plants):
    for option in ("--save", "--report"):
        result = semikpca("label", "plants.csv", "-l", "kind", option, "-")
        assert result.exit_code == 1
        assert f"{option} - would be standard output" in result.stderr


def test_labels_alone_go_by_the_id_column_or_by_the_number_of_the_row(semikpca, plants):
    by_id = semikpca("label", "plants.csv", "-l", "kind", "--id-column", "plant", "--labels-only", "-o", "-")
    assert list(table(by_id.stdout).columns) == ["plant", *ADDED]
    by_row = semikpca("label", "plants.csv", "-l", "kind", "--exclude", "plant", "--labels-only", "-o", "-")
    assert list(table(by_row.stdout).columns) == ["row", *ADDED]
    assert table(by_row.stdout)["row"].tolist() == [str(row + 1) for row in range(90)]


def test_a_model_labels_standard_input(semikpca, plants, tmp_path):
    assert semikpca("label", "plants.csv", "-l", "kind", "--id-column", "plant", "--save", "m.semikpca").exit_code == 0
    content = (tmp_path / "plants.labeled.csv").read_text()
    result = semikpca("predict", "m.semikpca", "-", piped=content)
    assert result.exit_code == 0, result.output
    before = table(content)
    # Labels of the earlier run give way to new ones.
    assert list(table(result.stdout).columns) == [*before.columns[:-4], "predicted_label", "confidence"]
    assert "come from an earlier run" in result.stderr
    assert "does not know" not in result.stderr
    alone = semikpca("predict", "m.semikpca", "-", "--labels-only", piped=content)
    assert list(table(alone.stdout).columns) == ["plant", "predicted_label", "confidence"]


def test_the_confidence_has_a_decimal_comma_where_the_numbers_of_the_file_have_one(semikpca, plants, tmp_path):
    frame, _ = make_plants()
    frame["height"] = frame["height"].str.replace(".", ",")
    frame.to_csv(tmp_path / "plants.csv", index=False, sep=";")
    result = semikpca("label", "plants.csv", "-l", "kind", "-o", "-")
    rows = list(csv.DictReader(io.StringIO(result.stdout), delimiter=";"))
    assert {row["confidence"][:2] for row in rows} <= {"0,", "1"}


@pytest.mark.slow  # a process is started
def test_a_reader_that_has_enough_ends_the_command_without_a_traceback(plants, tmp_path):
    command = [sys.executable, "-m", "semikpca", "label", "plants.csv", "-l", "kind", "-o", "-"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        messages = process.stderr.read()
    assert process.returncode == 1
    assert "Traceback" not in messages
    assert "BrokenPipeError" not in messages
