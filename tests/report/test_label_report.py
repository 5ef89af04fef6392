"""The report on a labeled table tells what the table and the model say, and no more than they know."""

import json
import math
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from html_page import Page

pytest.importorskip("jinja2", reason="the report comes with the extra `label`")
pytest.importorskip("pandas", reason="the report comes with the extra `label`")
pytest.importorskip("plotly", reason="the report comes with the extra `label`")
pytest.importorskip("skrub", reason="the report comes with the extra `label`")

import pandas as pd

from labeled_tables import SCRIPTS, fitted, make_blobs, view_of, with_estimates
from semikpca._palette import class_color
from semikpca.convexity import ConvexityCertificate
from semikpca.kernels import RBF, Linear, NeighborGraph, Normalized, Nystroem
from semikpca.report import _label_outputs, render_label_report, write_label_report
from semikpca.report._label_blend import apart, kernel_name, number, share_below_one
from semikpca.tables import ColumnRoles

ROUNDING = 1e-9  # a few operations in double precision on numbers up to 100


class TestView:
    def test_it_is_plain_data_that_survives_json(self, view):
        assert json.loads(json.dumps(view, allow_nan=False)) == view

    def test_the_headline_counts_rows_and_says_the_interval_in_words(self, labeled):
        view = view_of(with_estimates(labeled, (33, 40), (25, 40)))
        assert view["title"] == "Labels for 84 rows, learned from 36"
        # The interval of Clopper and Pearson for 33 of 40, from a table: 0.672 to 0.927.
        assert "33 of 40 given labels were found again (82%)" in view["lead"]
        assert "between 67% and 93% of the predicted labels are right" in view["lead"]
        first, ours, alone, _ = view["cards"]
        assert (first["figure"], first["of"], first["share"]) == ("84", "of 120", 70.0)
        assert (ours["figure"], alone["figure"]) == ("82%", "62%")

    @pytest.mark.parametrize(
        ("estimate", "baseline", "expected", "absent"),
        [
            ((33, 40), (25, 40), ["The interval is wide, because 40 labels are few", "20 points more", "overlap"], []),
            ((25, 40), (33, 40), ["20 points less", "overlap, so these labels do not settle"], []),
            ((30, 40), (30, 40), ["With and without the unlabeled rows it is the same"], ["points"]),
            ((950, 1000), (800, 1000), ["worth 15 points: the two intervals do not overlap"], ["wide"]),
            ((800, 1000), (950, 1000), ["alone is better by 15 points", "the unlabeled rows mislead"], ["wide"]),
            ((9, 10), (0, 0), ["10 labels are few"], ["overlap"]),
        ],
    )
    def test_the_text_says_no_more_than_the_counts_do(self, labeled, estimate, baseline, expected, absent):
        text = " ".join(view_of(with_estimates(labeled, estimate, baseline))["accuracy"]["sentences"])
        assert [part for part in expected if part not in text] == []
        assert [part for part in absent if part in text] == []

    def test_labels_that_cannot_be_left_out_are_counted(self, labeled):
        sentences = view_of(with_estimates(labeled, (20, 35), (20, 35)))["accuracy"]["sentences"]
        assert sentences[0] == "1 label is the only one of its class and was not asked for."

    def test_an_accuracy_that_cannot_be_told_is_not_told(self):
        frame, labels = make_blobs(4, 40, 4)
        view = view_of(fitted(frame, labels, ColumnRoles("label")))
        assert view["accuracy"]["rows"] == []
        assert "cannot be told" in view["lead"]
        assert "a second label" in view["accuracy"]["sentences"][0]
        assert [card["figure"] for card in view["cards"][1:3]] == ["–", "–"]

    def test_one_class_is_no_proof_of_accuracy(self):
        frame, labels = make_blobs(1, 30, 6)
        view = view_of(fitted(frame, labels, ColumnRoles("label")))
        assert view["accuracy"]["rows"] == []
        assert "There is one class" in view["lead"]
        assert view["blend"]["candidates"] == []
        assert view["classes"][0]["predicted_share"] == 100.0
        assert Page(render_label_report(view, SCRIPTS)).section("blend")

    def test_every_column_is_named_once_and_the_numbers_add_up(self, labeled, view):
        columns = [row["columns"] for row in (*view["source"]["kinds"], *view["source"]["unused"])]
        assert sorted(", ".join(columns).split(", ")) == sorted(labeled.table.frame.columns)
        assert sum(row["n_features"] for row in view["source"]["kinds"]) == labeled.X.shape[1]
        assert {"kind": "left out", "columns": "same", "n_features": 0} in view["source"]["kinds"]

    def test_class_shares_are_those_of_the_output_table(self, labeled, view):
        frame = labeled.to_frame()
        predicted, given = Counter(frame["predicted_label"]), Counter(frame["kind"])
        rows = {row["name"]: row for row in view["classes"]}
        assert {name: row["predicted"] for name, row in rows.items()} == predicted
        assert all(rows[name]["given"] == given[name] for name in rows)
        for name, row in rows.items():
            own = frame.loc[frame["predicted_label"] == name, "confidence"]
            assert row["confidence"] == pytest.approx(100 * own.mean(), abs=0.01)  # four digits in the table
            assert row["given_share"] == pytest.approx(100 * given[name] / 36, abs=ROUNDING)

    def test_the_wrong_label_is_first_and_the_reason_names_its_neighbors(self, labeled, view):
        first = view["suspicious"]["rows"][0]
        row = labeled.table.frame.iloc[first["row"]]
        assert (first["name"], first["given"], first["suggested"]) == (row["plant"], "fern", "palm")
        named = re.search(r"Nearest with that label: (.*)\.$", first["why"])[1].split(", ")
        assert set(labeled.table.frame.set_index("plant").loc[named, "kind"]) == {"palm"}

    def test_rows_to_label_next_have_no_label_and_their_likeliest_class_first(self, labeled, view):
        frame = labeled.to_frame()
        assert len(view["suggestions"]) == 5
        for entry in view["suggestions"]:
            row = frame.iloc[entry["row"]]
            likely, other = entry["likely"]
            assert not row["label_was_given"]
            assert (entry["name"], likely["name"]) == (row["plant"], row["predicted_label"])
            assert likely["chance"] == pytest.approx(100 * row["confidence"], abs=0.01)  # four digits in the table
            assert likely["chance"] >= other["chance"]

    def test_shares_of_the_blend_come_to_all(self, labeled, view):
        rest = float(re.search(r"([\d.]+)% of the weight", view["blend"]["rest"])[1])
        shown = [row["share"] for row in view["blend"]["candidates"]]
        assert shown == sorted(shown, reverse=True)
        assert sum(shown) + rest == pytest.approx(100, abs=0.05)  # one digit in the sentence
        assert view["blend"]["n_all"] == len(labeled.model.weights_)

    def test_settings_and_versions_are_told(self, view):
        settings = {entry["name"]: entry["value"] for entry in view["settings"]}
        assert settings["Label column"] == "kind"
        assert settings["Identifier"] == "plant"
        assert settings["Error weight"] == "the middle"
        assert view["versions"] == [{"name": "numpy", "version": "2.1.0"}, {"name": "semikpca", "version": "0.1.0"}]
        assert view["created"] == "2026-11-15 18:30+00:00"


class TestCertificate:
    def view(self, labeled, certificate):
        changed = replace(labeled)
        model = type("Model", (), {"__getattr__": lambda self, name: getattr(labeled.model, name)})()
        model.certificate_, model.certificates_ = certificate, [certificate]
        return view_of(replace(changed, model=model), suggestions=())["certificate"]

    def test_marks_stand_where_the_paper_puts_them(self, labeled):
        # λ1 = 4, λ2 = 1: the interval ends at 1, and the middle is 1/sqrt(4 · 1).
        certificate = ConvexityCertificate(1, 1.0, (4.0, 1.0)).at(0.8)
        view = self.view(labeled, certificate)
        assert (view["lower"], view["middle"], view["error_weight"], view["bound"]) == ("0.25", "0.5", "0.8", "1")
        places = view["line"]
        scale = places["bound"]
        assert scale < 100
        assert places["lower"] / scale == pytest.approx(0.25, abs=ROUNDING)
        assert places["middle"] / scale == pytest.approx(0.5, abs=ROUNDING)
        assert places["weight"] / scale == pytest.approx(0.8, abs=ROUNDING)
        # On a logarithmic scale from 1/λ1 to the bound the middle is the middle.
        assert view["close_up"]["middle"] == pytest.approx(50, abs=ROUNDING)
        assert view["close_up"]["weight"] == pytest.approx(100 * math.log(3.2) / math.log(4), abs=ROUNDING)
        assert (view["condition_number"], view["gap"], view["is_middle"]) == ("5", "3", False)
        assert "At 80% of the bound" in view["meaning"]

    def test_the_middle_is_called_the_middle(self, labeled):
        view = self.view(labeled, ConvexityCertificate(1, 1.0, (4.0, 1.0)).at(0.5))
        assert view["is_middle"]
        assert view["close_up"]["weight"] == pytest.approx(50, abs=ROUNDING)

    def test_without_a_removed_component_there_is_no_lower_end(self, labeled):
        view = self.view(labeled, ConvexityCertificate(0, 2.0, (2.0,)).at(0.3))
        assert view["lower"] is view["close_up"] is view["gap"] is view["line"]["lower"] is None
        assert "No component was removed" in view["meaning"]

    def test_a_weight_below_the_close_up_is_not_drawn_in_it(self, labeled):
        assert self.view(labeled, ConvexityCertificate(1, 1.0, (4.0, 1.0)).at(0.1))["close_up"] is None

    def test_a_weight_close_to_the_bound_is_not_called_the_whole(self, labeled):
        view = self.view(labeled, ConvexityCertificate(1, 1.0, (1.001, 1.0)).at(0.9997))
        assert view["relative_weight"] == "99.97%"
        assert len({view["lower"], view["middle"], view["error_weight"], view["bound"]}) == 4

    def test_a_fit_without_a_certificate_says_so(self, labeled, view):
        page = Page(render_label_report({**view, "certificate": None}, SCRIPTS))
        assert "There is no certificate" in page.section("certificate")

    def test_the_certificate_of_the_fit_is_that_of_its_heaviest_use(self, labeled, view):
        results = pd.DataFrame(labeled.model.results_)
        shaped = results[results["n_components_removed"].notna()]
        uses = shaped.groupby(["kernel", "error_weight"], sort=False)["weight"].sum()
        (kernel, weight), share = uses.idxmax(), uses.max()
        seen = labeled.view_of(kernel)
        assert view["certificate"]["kernel"] == kernel_name(kernel) + (f" on {seen.name}" if seen.places else "")
        assert view["certificate"]["share"] == pytest.approx(100 * share, abs=ROUNDING)
        assert view["certificate"]["error_weight"] == apart([labeled.certificate.error_weight_max, weight])[1]
        assert len(view["certificate"]["others"]) == len(labeled.model.certificates_) - 1

    @pytest.mark.parametrize(
        ("kernel", "text"),
        [
            (RBF(gamma=0.123456), "RBF(gamma=0.123)"),
            (RBF(), "RBF()"),
            (NeighborGraph(7), "NeighborGraph(n_neighbors=7)"),
            (Normalized(RBF(gamma=1234.56)), "Normalized(RBF(gamma=1,235))"),
            (Normalized("laplacian"), "Normalized('laplacian')"),
            (Nystroem(Linear(), landmarks=np.ones((1, 2))), "Nystroem(Linear(), landmarks=array([[1., 1.]]))"),
        ],
        ids=repr,
    )
    def test_kernels_are_named_with_what_was_set(self, kernel, text):
        assert kernel_name(kernel) == text

    @pytest.mark.parametrize(
        ("value", "text"), [(0.0, "0"), (57.8, "57.8"), (1234.6, "1,235"), (2.5e-7, "2.5e-07"), (0.01726, "0.0173")]
    )
    def test_numbers_have_three_digits_that_count(self, value, text):
        assert number(value) == text

    def test_numbers_that_differ_look_different(self):
        assert apart([1.0, 1.00025, 1.0005]) == ["1", "1.0003", "1.0005"]
        assert share_below_one(0.99999) == "99.999%"
        assert share_below_one(0.132) == "13%"


class TestMap:
    def test_points_tell_what_the_table_tells(self, labeled, view):
        points, frame = view["map"]["points"], labeled.to_frame()
        assert points["row"] == list(range(120))
        assert [points["names"][code] for code in points["predicted"]] == frame["predicted_label"].tolist()
        assert [label or "" for label in points["given"]] == frame["kind"].tolist()
        assert [said is not None for said in points["others_say"]] == frame["looks_wrong"].tolist()
        assert points["confidence"] == pytest.approx(frame["confidence"].tolist(), abs=6e-4)  # three digits
        assert points["name"] == frame["plant"].tolist()
        assert [view["map"]["legend"][group]["name"] for group in points["group"]] == frame["predicted_label"].tolist()

    def test_a_class_has_the_color_of_its_place_in_sorted_order(self, view):
        place_of = {"fern": 0, "moss": 1, "palm": 2}
        assert {entry["name"]: entry["place"] for entry in view["map"]["legend"]} == place_of
        assert {row["name"]: row["place"] for row in view["classes"]} == place_of
        first = view["suspicious"]["rows"][0]
        assert (first["given_place"], first["suggested_place"]) == (place_of[first["given"]], place_of["palm"])
        likely = [guess for entry in view["suggestions"] for guess in entry["likely"]]
        assert all(guess["place"] == place_of[guess["name"]] for guess in likely)
        points = view["map"]["points"]
        assert dict(zip(points["names"], points["places"], strict=True)) == place_of
        assert points["shapes"] == ["circle", "square", "diamond"]

    def test_coordinates_fill_a_square(self, view):
        points = view["map"]["points"]
        assert max(map(abs, points["x"] + points["y"])) == 1.0

    def test_a_sample_keeps_labeled_rows_and_those_to_label_next(self, labeled, tmp_path, monkeypatch):
        monkeypatch.setattr(_label_outputs, "MOST_POINTS", 50)
        write_label_report(tmp_path / "report.html", labeled)
        page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
        points = json.loads(next(entry["text"] for entry in page.all("script") if entry.get("id") == "map-data"))
        assert len(points["row"]) == 50
        wanted = {*np.flatnonzero(labeled.is_given), *labeled.suggestions(10)}
        assert wanted <= set(points["row"])
        assert "50 of 120 rows, drawn at random, with all that had a label." in page.section("map")

    @pytest.mark.parametrize("n_classes", [10, 11, 30])
    def test_classes_beyond_the_colors_are_one_group(self, n_classes):
        frame, labels = make_blobs(n_classes)
        found = fitted(frame, labels, ColumnRoles("label"))
        view = view_of(found, suggestions=())
        legend = view["map"]["legend"]
        assert len(legend) == 10
        assert [entry["place"] is None for entry in legend] == [False] * 9 + [n_classes > 10]
        assert sum(entry["count"] for entry in legend) == 150
        assert max(view["map"]["points"]["group"]) == 9
        shown = view["classes"]
        assert len(shown) == min(n_classes, 21)
        assert sum(row["predicted"] for row in shown) == 150
        if n_classes > 20:
            assert shown[-1]["name"] == f"{n_classes - 20} more classes"
        assert [row["place"] for row in shown[20:]] == [None] * (len(shown) - 20 if n_classes > 20 else 0)
        common = [name for name, _ in Counter(found.predicted).most_common(1)]
        assert legend[0]["count"] == Counter(found.predicted)[common[0]]
        page = render_label_report(view, SCRIPTS)
        for place in range(n_classes):  # for those in the rest too: each row has the color of its class
            assert f"--class-{place}: {class_color(place, dark=False)};" in page
            assert f"--class-{place}: {class_color(place, dark=True)};" in page
        Page(page)
