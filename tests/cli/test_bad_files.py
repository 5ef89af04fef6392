"""Bad files on the command line: a clear message, a non-zero exit code, and no file that was not there before."""

import json

import numpy as np
import pandas as pd
import pytest

from semikpca.tables import read_table
from small_tables import make_plants

GOOD = "size,color,kind\n" + "".join(
    f"{row % 7}.{row},{('red', 'blue')[row % 2]},{('a', 'b')[row % 2] if row < 8 else ''}\n" for row in range(40)
)


def words(text):
    return " ".join(text.split())


def csv_of(**columns):
    return pd.DataFrame(columns).to_csv(index=False)


SIZES = [f"{row % 7}.{row}" for row in range(40)]
SOME = [("a", "b")[row % 2] if row < 8 else "" for row in range(40)]

SHOPS = csv_of(
    shop=[f"shop {7 * row % 10_000}" for row in range(10_500)],
    size=[f"{4 * (row % 2)}.{7919 * row % 1_000:03}" for row in range(10_500)],
    kind=[("a", "b")[row % 2] if row < 10 else "" for row in range(10_500)],
)

# name of the case: (file, content, options, what the message says)
CASES = {
    "wrong delimiter": ("t.csv", GOOD, ["--delimiter", ";"], "no column 'kind'"),
    "delimiter of two characters": ("t.csv", GOOD, ["--delimiter", ",,"], "one character"),
    "wrong encoding": ("t.csv", GOOD.replace("red", "grün").encode("cp1252"), [], "--encoding cp1252"),
    "unknown encoding": ("t.csv", GOOD, ["--encoding", "klingon"], "no such encoding"),
    "missing label column": ("t.csv", GOOD, ["-l", "kinds"], "Did you mean 'kind'?"),
    "no label": ("t.csv", csv_of(size=SIZES, kind=[""] * 40), [], "There is no label in the column 'kind'"),
    "blanks are no label": ("t.csv", csv_of(size=SIZES, kind=["  "] * 40), [], "There is no label"),
    "one class": ("t.csv", csv_of(size=SIZES, kind=["a"] * 9 + [""] * 31), [], "row of another class"),
    "every row labeled": ("t.csv", csv_of(size=SIZES, kind=["a", "b"] * 20), [], "Every row has a label"),
    "ten thousand classes": (
        "t.csv",
        csv_of(size=range(10_400), kind=[*(f"class {row}" for row in range(10_000)), *[""] * 400]),
        [],
        "10,000 different labels in the column 'kind' of t.csv",
    ),
    "ten thousand categories": ("t.csv", SHOPS, [], "The column 'shop' of t.csv has 10,000 different values"),
    "empty file": ("t.csv", "", [], "is empty"),
    "header only": ("t.csv", "size,kind\n", [], "no rows"),
    "duplicate column names": ("t.csv", GOOD.replace("color", "size"), [], "two columns named 'size'"),
    "ragged rows": ("t.csv", GOOD + "1,2\n", [], "line 42: 2 cells where the header has 3"),
    "open quote": ("t.csv", GOOD + '1,"red,a\n', [], "quote"),
    "mixed label types": (
        "t.jsonl",
        "\n".join(json.dumps({"size": row, "kind": [1, "a", None, 1][row % 4]}) for row in range(40)),
        [],
        "mixed types",
    ),
    "not json": ("t.jsonl", "{'size': 1}\n", [], "t.jsonl"),
    "not parquet": ("t.parquet", "PAR1 no", [], "t.parquet"),
    "not a workbook": ("t.xlsx", GOOD, [], "t.xlsx"),
    "unknown suffix": ("t.doc", GOOD, [], ".doc"),
    "only the label column": ("t.csv", csv_of(kind=SOME), [], "no column to learn from"),
    "nothing varies": ("t.csv", csv_of(size=["1"] * 40, kind=SOME), [], "learn"),
    "infinite": ("t.csv", csv_of(size=["inf", *SIZES[1:]], kind=SOME), [], "infinite"),
    "a folder": ("t.csv", None, [], "is a folder"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("command", ["label", "suggest"])
def test_a_bad_file_is_refused_with_a_message_and_nothing_is_written(command, case, semikpca, tmp_path):
    name, content, options, message = CASES[case]
    if content is None:
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    options = options if "-l" in options else ["-l", "kind", *options]
    result = semikpca(command, name, *options, "-o", "out.csv")
    assert result.exit_code == 1
    assert message in words(result.stderr)
    assert result.stderr.startswith("Error:")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_that_is_not_there_is_said(semikpca):
    result = semikpca("label", "nothing.csv", "-l", "kind")
    assert result.exit_code == 1
    assert "There is no file nothing.csv" in words(result.stderr)


def test_a_pickled_array_is_never_opened(semikpca, tmp_path):
    np.save(tmp_path / "t.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    result = semikpca("label", "t.npy", "-l", "kind")
    assert result.exit_code == 1
    assert "t.npy" in result.stderr


# -- what is warned of, and done all the same ------------------------------------------------------------------


def test_a_column_that_is_an_identifier_is_left_out_with_a_note(semikpca, tmp_path):
    make_plants()[0].to_csv(tmp_path / "plants.csv", index=False)
    result = semikpca("label", "plants.csv", "-l", "kind")
    assert result.exit_code == 0
    assert "Note: The column 'plant' looks like an identifier" in words(result.stderr)
    assert "Learned from 3 columns" in result.stdout
    kept = semikpca("label", "plants.csv", "-l", "kind", "--keep", "plant", "--force")
    assert "Learned from 4 columns" in kept.stdout
    assert "identifier" not in kept.stderr
    assert "--keep plant" in words(kept.stdout)  # in the commands to try next


@pytest.mark.slow  # ten thousand rows of text are learned from
def test_the_letters_of_ten_thousand_values_are_learned_from_where_that_is_asked_for(semikpca, tmp_path):
    (tmp_path / "shops.csv").write_text(SHOPS)
    result = semikpca("label", "shops.csv", "-l", "kind", "--text-column", "shop")
    assert result.exit_code == 0
    assert "different values" not in result.stderr
    assert len(read_table(tmp_path / "shops.labeled.csv").frame) == 10_500


def test_a_semicolon_is_found_by_itself_and_said(semikpca, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD.replace(",", ";"))
    result = semikpca("label", "t.csv", "-l", "kind")
    assert result.exit_code == 0
    assert "separated by a semicolon" in words(result.stderr)
    assert (tmp_path / "t.labeled.csv").read_text().startswith("size;color;kind;predicted_label;")


# -- cells that other programs would run -----------------------------------------------------------------------

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", '=HYPERLINK("http://x")', "-5", "+4.5", "1e3"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx"])
def test_formulas_are_no_formulas_in_the_output_and_come_back_as_they_were(suffix, semikpca, tmp_path):
    frame = pd.DataFrame({"note": FORMULAS * 5, "size": SIZES, "kind": SOME})
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = semikpca("label", "t.csv", "-l", "kind", "--text-column", "note", "-o", f"out.{suffix}")
    assert result.exit_code == 0
    if suffix == "xlsx":
        import openpyxl

        sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
        assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
    else:
        assert "Note: 20 cells that look like formulas have an apostrophe in front" in words(result.stderr)
        assert "\n'=1+1" in (tmp_path / f"out.{suffix}").read_text()
    assert read_table(tmp_path / f"out.{suffix}").frame["note"].tolist() == FORMULAS * 5


def test_raw_cells_are_written_as_they_are(semikpca, tmp_path):
    frame = pd.DataFrame({"note": FORMULAS * 5, "size": SIZES, "kind": SOME})
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = semikpca("label", "t.csv", "-l", "kind", "--text-column", "note", "--raw-cells")
    assert result.exit_code == 0
    assert "apostrophe" not in result.stderr
    found = pd.read_csv(tmp_path / "t.labeled.csv", dtype=str)
    assert found["note"].tolist() == FORMULAS * 5


def test_a_label_that_is_a_formula_is_escaped_in_the_output_and_learned_as_it_is(semikpca, tmp_path):
    frame, _ = make_plants()
    frame["kind"] = frame["kind"].replace("moss", "=cmd()")
    frame.to_csv(tmp_path / "plants.csv", index=False)
    assert semikpca("label", "plants.csv", "-l", "kind", "--id-column", "plant").exit_code == 0
    found = pd.read_csv(tmp_path / "plants.labeled.csv", dtype=str, keep_default_na=False)
    assert set(found["predicted_label"]) == {"fern", "'=cmd()", "palm"}
    assert set(read_table(tmp_path / "plants.labeled.csv").frame["predicted_label"]) == {"fern", "=cmd()", "palm"}


def test_labels_that_are_signs_survive_two_rounds(semikpca, tmp_path):
    frame, _ = make_plants()
    frame["kind"] = frame["kind"].map({"": "", "moss": "+", "fern": "-", "palm": "@"})
    frame.to_csv(tmp_path / "plants.csv", index=False)
    assert semikpca("label", "plants.csv", "-l", "kind", "-o", "one.csv").exit_code == 0
    assert semikpca("label", "one.csv", "-l", "kind", "-o", "two.csv").exit_code == 0
    assert (tmp_path / "two.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
    assert set(pd.read_csv(tmp_path / "two.csv", dtype=str)["predicted_label"]) == {"+", "-", "@"}


def test_a_loop_of_links_is_no_file(semikpca, tmp_path):
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    (tmp_path / "t.csv").write_text(GOOD)
    for arguments in (("loop.csv", "-o", "out.csv"), ("t.csv", "--labels", "loop.csv", "-o", "out.csv")):
        result = semikpca("label", *arguments, "-l", "kind")
        assert result.exit_code == 1
        assert "A symbolic link leads back to itself (name the file that is meant)" in words(result.stderr)
    result = semikpca("label", "t.csv", "-l", "kind", "-o", "loop.csv")
    assert result.exit_code == 1
    assert "loop.csv exists already" in words(result.stderr)


def test_html_in_cells_is_escaped_in_the_report(semikpca, tmp_path):
    frame, _ = make_plants()
    evil = "<script>alert(1)</script>"
    frame["kind"] = frame["kind"].replace("moss", evil)
    frame["place"] = f"{evil} " + frame["place"]
    frame.rename(columns={"leaves": evil}).to_csv(tmp_path / "plants.csv", index=False)
    result = semikpca("label", "plants.csv", "-l", "kind", "--id-column", "plant", "--report", "page.html")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "alert(1)" in page
    assert evil not in page
