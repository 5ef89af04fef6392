"""``semikpca label --accept`` and what belongs to it, from outside."""

import re

import numpy as np
import pandas as pd
import pytest

CLOUDS = ("clouds.csv", "--label-column", "kind", "--id-column", "name")


@pytest.fixture(autouse=True)
def clouds(tmp_path, monkeypatch):
    """Two clouds that touch, and sixty labels."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(4)
    cluster = generator.integers(2, size=300)
    frame = pd.DataFrame({"name": [f"r{i}" for i in range(300)], "a": 4.0 * cluster + generator.normal(size=300)})
    frame["b"] = generator.normal(size=300)
    frame["kind"] = np.where(cluster == 1, "right", "left").astype(object)
    frame["truth"] = frame["kind"]
    frame.loc[60:, "kind"] = None
    frame["chance"] = ["yes" if row % 2 else "" for row in range(300)]
    frame.drop(columns="truth").to_csv("clouds.csv", index=False)
    return frame


def said_by(result):
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_rows_are_accepted_in_a_column_and_the_others_are_in_a_file(semikpca, clouds):
    said = said_by(semikpca("label", *CLOUDS, "--exclude", "chance", "--accept", "0.9"))
    after, review = pd.read_csv("clouds.labeled.csv"), pd.read_csv("clouds.review.csv")
    n_accepted = int(after["accepted"].sum())
    assert 0 < n_accepted < 240
    assert f"{n_accepted} of 240 rows can be accepted; at most 10% of them are wrong (with 90% confidence)" in said
    assert f"the other {240 - n_accepted} are in clouds.review.csv." in said
    assert "drawn at random" in said
    assert set(review["name"]) == set(after["name"][~after["accepted"] & ~after["label_was_given"]])
    assert review["confidence"].is_monotonic_increasing
    wrong = (after["predicted_label"] != clouds["truth"])[after["accepted"]]
    assert wrong.mean() <= 0.1


def test_too_few_labels_say_how_many_it_takes(semikpca):
    said = said_by(semikpca("label", *CLOUDS, "--exclude", "chance", "--accept", "0.99"))
    assert "takes 230 labels drawn at random at least" in said  # 0.99 ** 230 < 0.1
    assert "there are 60" in said
    assert not pd.read_csv("clouds.labeled.csv")["accepted"].any()
    assert len(pd.read_csv("clouds.review.csv")) == 240


def test_labels_that_were_not_drawn_do_not_count(semikpca):
    said = said_by(semikpca("label", *CLOUDS, "--drawn", "chance", "--accept", "0.95"))
    assert "takes 45 labels drawn at random at least, all of them found again, and there are 30" in said
    assert "chance" not in said.split("Label Given")[0]  # nothing is learned from it


def test_suggestions_drawn_at_random_are_marked(semikpca):
    said = said_by(
        semikpca("suggest", *CLOUDS, "--exclude", "chance", "-n", "6", "--check-rows", "2", "-o", "next.csv")
    )
    assert re.findall(r"(\d+) at random", said) == ["5", "6"]
    assert pd.read_csv("next.csv")["drawn_at_random"].tolist() == [False] * 4 + [True] * 2


def test_the_report_has_the_curve_and_the_sentence(semikpca, tmp_path):
    said_by(semikpca("label", *CLOUDS, "--exclude", "chance", "--accept", "0.9", "--report", "page.html"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "of 240 rows can be accepted; at most 10% of them are wrong" in page
    assert 'id="acceptance"' in page
    assert 'class="curve"' in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--accept", "95"), "--accept must lie between 0 and 1, got 95. For 95% write 0.95."),
        (("--accept", "0"), "--accept must lie between 0 and 1, got 0."),
        (("--review", "r.csv"), "--review lists what is not accepted, and needs --accept"),
        (("--drawn", "nothing"), "'nothing'"),
        (("--accept", "0.9", "--review", "clouds.csv"), "which is read: it is never written over"),
    ],
)
def test_what_cannot_be_is_refused_before_the_work(semikpca, options, message, tmp_path):
    result = semikpca("label", *CLOUDS, *options)
    assert result.exit_code == 1
    assert message in " ".join(result.output.split())
    assert not (tmp_path / "clouds.labeled.csv").exists()
