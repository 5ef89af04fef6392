"""``semikpca suggest``: rows to label next, shown so that one can label them."""

import pandas as pd
import pytest

from semikpca.datasets import make_support_tickets
from small_tables import make_plants

SUGGEST = ("suggest", "plants.csv", "-l", "kind", "--id-column", "plant")


def words(text):
    return " ".join(text.replace("│", " ").split())


def test_as_many_unlabeled_rows_as_asked_for_are_shown(semikpca, plants):
    result = semikpca(*SUGGEST, "-n", 7)
    assert result.exit_code == 0, result.output
    frame, _ = make_plants()
    names = [line.split("│")[2].strip() for line in result.stdout.splitlines() if line.startswith("│")]
    shown = [name for name in names if name]  # a row may take a second line
    assert len(shown) == len(set(shown)) == 7
    assert (frame.set_index("plant").loc[shown, "kind"] == "").all()
    assert "height: " in result.stdout
    assert "Write their labels into the column kind of plants.csv, and run semikpca label again." in words(
        result.stdout
    )


def test_rows_without_names_are_found_by_their_line(semikpca, tmp_path):
    frame, _ = make_plants()
    frame.drop(columns="plant").to_csv(tmp_path / "plants.csv", index=False)
    result = semikpca("suggest", "plants.csv", "-l", "kind", "-n", 3, "-o", "next.csv")
    rows = pd.read_csv(tmp_path / "next.csv")["row"]
    for row in rows:
        assert f"line {row + 1} " in result.stdout  # the header is line 1


def test_the_file_has_the_rows_as_they_were_best_first(semikpca, plants, tmp_path):
    assert semikpca(*SUGGEST, "-n", 4, "-o", "next.csv").exit_code == 0
    found = pd.read_csv(tmp_path / "next.csv", dtype=str, keep_default_na=False)
    frame, _ = make_plants()
    assert list(found.columns) == ["row", *frame.columns, "predicted_label", "confidence"]
    for record in found.to_dict("records"):
        assert {name: record[name] for name in frame.columns} == frame.loc[int(record["row"]) - 1].to_dict()


def test_the_text_of_a_row_is_shown(semikpca, tmp_path):
    tickets = make_support_tickets(60, 20)
    tickets.to_csv(tmp_path / "tickets.csv", index=False)
    result = semikpca("suggest", "tickets.csv", "-l", "category", "--id-column", "ticket_id", "-n", 2)
    assert result.exit_code == 0, result.output
    shown = [line.split("│")[2].strip() for line in result.stdout.splitlines() if "T-1" in line]
    texts = tickets.set_index("ticket_id").loc[shown, "message"]
    for text in texts:
        assert text.split()[0] in result.stdout


def test_fewer_rows_than_asked_for_are_no_error(semikpca, tmp_path):
    frame, names = make_plants(30)
    frame.loc[5:, "kind"] = names[5:]
    frame.loc[:4, "kind"] = ""
    frame.to_csv(tmp_path / "plants.csv", index=False)
    result = semikpca(*SUGGEST, "-n", 20)
    assert result.stdout.count("│ P") == 5


@pytest.mark.parametrize("n", [0, -3])
def test_a_number_below_one_is_refused(n, semikpca, plants):
    result = semikpca(*SUGGEST, "-n", n)
    assert result.exit_code == 2
    assert "-n" in result.output
