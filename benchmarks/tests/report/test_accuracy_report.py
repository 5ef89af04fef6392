"""The page of the accuracy benchmark: it shows the view, escapes what it is given, and hides no loss."""

import copy
import csv
import json
import re
from itertools import pairwise

import numpy as np
import pytest

from html_page import Page
from made_records import folder_info, made_cell, made_record
from semikpca_benchmarks.accuracy import BEST_KERNEL, SCORES, AccuracySpec
from semikpca_benchmarks.datasets import DataFolder

pytest.importorskip("jinja2", reason="the page is a jinja2 template, which comes with the extra `paper`")

from semikpca_benchmarks.report import accuracy_headlines, accuracy_view, render_accuracy_report, write_accuracy_outputs

CV, RBF, BEST, SVC, KNN = "semikpca cv", "semikpca rbf", "semikpca rbf best weight", "svc", "nearest neighbor"
METHODS = (CV, RBF, BEST, SVC, KNN)
VERSIONS = {"semikpca": "0.1.0", "numpy": "2.1.0"}


def make_record(cell, changes=None, draws=2):
    """Return a record in which ours is best by a point, but for ``changes`` by method; None fails."""
    means = {CV: 90.0, RBF: 85.0, SVC: 89.0, KNN: 80.0, **({BEST: 95.0} if cell.info.n_classes == 2 else {})}
    means.update(changes or {})
    accuracies = {
        name: [None if mean is None else mean + step / 10 for step in (0, 2)][:draws] for name, mean in means.items()
    }
    audit = {name: [0.97, 0.99][:draws] for name in (CV, RBF)} if cell.flipped else None
    # Ours is the better one by its calibration, the other one by its Brier score, and both are too cautious.
    scores = {CV: (0.05, 0.3, -0.05), RBF: (0.2, 0.2, -0.1)}
    return made_record(
        cell,
        accuracies,
        audit,
        {name: dict(zip(SCORES, np.outer(values, np.ones(draws)), strict=True)) for name, values in scores.items()},
    )


CELLS = (
    made_cell("heart", 3),
    made_cell("heart", 14),
    made_cell("twonorm", 1),
    made_cell("twonorm", 10),
    made_cell("wine", 5),
    made_cell("banana", 5),
    made_cell("twonorm", 10, 20),
    made_cell("twonorm", 10, 40),
)
LOSS = {SVC: 95.5}
SPEC = AccuracySpec(datasets=("heart", "twonorm", "wine", "banana"), methods=METHODS, repetitions=2)


@pytest.fixture
def records():
    return [make_record(cell, LOSS if cell.dataset == "wine" else None) for cell in CELLS]


@pytest.fixture
def view(records):
    return accuracy_view(SPEC, VERSIONS, records)


def make_figures(view):
    names = ["ranks", "calibration", *(entry["figure"] for group in view["curves"] for entry in group["figures"])]
    return {name: f'<svg xmlns="http://www.w3.org/2000/svg"><text>{name}</text></svg>' for name in names}


class TestView:
    def test_it_is_plain_data_that_survives_json(self, view):
        assert json.loads(json.dumps(view, allow_nan=False)) == view

    def test_the_summary_counts_cells_with_right_labels(self, view):
        first, mean, close, aside, calibration = view["summary"]["cards"]
        assert (first["figure"], first["of"]) == ("1", "of 4")  # the oracle is not counted
        assert first["what"] == "is its place by mean rank over 6 cells"
        assert mean["figure"] == "90.1%"
        assert mean["aside"] == "best peer: svc, 90.2%"  # (5 · 89 + 95.5) / 6 + 0.1
        assert (close["figure"], close["of"]) == ("3", "of 4")
        assert "kept aside" in aside["what"]
        assert (calibration["figure"], calibration["aside"]) == ("0.050", "too cautious by 0.050")  # no peer has any

    def test_the_headlines_say_rank_mean_losses_and_what_was_absent(self, records):
        lines = accuracy_headlines(SPEC, VERSIONS, records)
        assert "mean rank of 1.2 over 6 cells, place 1 of 4; the best peer by rank is svc with 1.8" in lines[0]
        assert "90.1%, that of the best peer, svc, 90.2%" in lines[1]
        assert "behind the best peer of the cell in 1 of 4 cells with 5 or more labels per class" in lines[2]
        assert "graphlearning was not installed: graphlearning laplace, graphlearning poisson" in lines[-1]

    def test_a_package_that_was_there_is_not_called_absent(self, records):
        assert accuracy_view(SPEC, {**VERSIONS, "graphlearning": "1.7"}, records)["absent"] == []

    def test_methods_are_in_the_order_of_their_ranks_and_the_oracle_is_last(self, view):
        assert [row["method"] for row in view["headline"]] == [CV, SVC, RBF, KNN, BEST]
        assert [row["wins"] for row in view["headline"]] == [5, 1, 0, 0, None]

    def test_the_oracle_is_never_marked_as_best(self, view):
        (oracle,) = [row for row in view["headline"] if row["method"] == BEST]
        assert not any(entry["best_mean"] or entry["best_rank"] for entry in oracle["groups"])
        paper = next(i for i, group in enumerate(view["groups"]) if group["name"] == "paper")
        assert oracle["groups"][paper]["mean"] == 95.1
        assert view["headline"][0]["groups"][paper]["best_mean"]

    def test_both_halves_are_shown_beside_the_whole(self, view):
        shown = [(group["label"], group["n_cells"]) for group in view["groups"]]
        assert shown == [("All sets", 6), ("Paper’s sets", 2), ("Tuning half", 3), ("Aside half", 1)]

    def test_every_cell_and_method_is_among_the_results(self, view):
        rows = [(row["dataset"], row["labels"]) for group in view["results"] for row in group["rows"]]
        assert sorted(rows) == sorted((cell.dataset, cell.labels) for cell in CELLS if not cell.flipped)
        (tuning,) = [group for group in view["results"] if group["label"] == "Tuning half"]
        assert tuning["methods"][0] == CV
        wine = next(row for row in tuning["rows"] if row["dataset"] == "wine")
        assert wine["entries"][tuning["methods"].index(BEST)] is None  # three classes
        assert wine["entries"][0]["rank"] == 2.0

    def test_noise_stands_beside_the_same_labels_without_any(self, view):
        (table,) = view["noise"]
        assert (table["dataset"], table["percents"], table["n_labeled"]) == ("twonorm", [20, 40], 20)
        ours = next(row for row in table["rows"] if row["method"] == CV)
        assert [entry["mean"] for entry in ours["accuracies"]] == [90.1, 90.1, 90.1]
        assert ours["areas"] == [0.98, 0.98]
        assert next(row for row in table["rows"] if row["method"] == SVC)["areas"] == [None, None]

    def test_curves_show_the_reference_and_the_best_peers_of_sets_with_several_counts(self, view):
        figures = {entry["figure"]: entry["methods"] for group in view["curves"] for entry in group["figures"]}
        assert figures == {"curves/heart": [CV, SVC, KNN], "curves/twonorm": [CV, SVC, KNN]}

    def test_the_hardest_peer_comes_first_among_the_tests(self, view):
        assert [row["peer"] for row in view["tests"]] == [SVC, KNN]
        assert (view["tests"][0]["wins"], view["tests"][0]["losses"]) == (5, 1)

    def test_a_run_without_the_reference_says_so(self, records):
        spec = AccuracySpec(datasets=SPEC.datasets, methods=(RBF, SVC), repetitions=2)
        view = accuracy_view(spec, VERSIONS, [record.without([CV, BEST, KNN]) for record in records])
        assert view["reference"] is None
        assert not view["summary"]["cards"]
        assert not view["tests"]
        assert "was not part of this run" in view["summary"]["sentences"][0]
        page = Page(render_accuracy_report(view, {}))
        assert "was not part of this run" in page.section("losses")

    def test_failures_are_told(self):
        records = [make_record(made_cell("heart", 14), {KNN: None})]
        view = accuracy_view(SPEC, VERSIONS, records)
        assert "2 fits failed and are left out of their means: nearest neighbor." in view["summary"]["sentences"]
        assert view["failures"][0]["n_draws"] == 2


MAILS = folder_info("mails", (5, 5), groups=("folder", "text"))
UNEQUAL = (980, 20)
RARE_CELLS = (
    made_cell("glass6", 1, unlabeled=UNEQUAL),
    made_cell("glass6", 5, unlabeled=UNEQUAL),
    made_cell("car-good", 1, unlabeled=UNEQUAL),
    made_cell("mails", 1, info=MAILS, unlabeled=UNEQUAL),
    made_cell("mails", 2, info=MAILS, unlabeled=UNEQUAL),
)


class TestRareClassesAndProbabilities:
    SPEC = AccuracySpec(
        datasets=("glass6", "car-good", "mails"),
        methods=METHODS,
        repetitions=2,
        folder=DataFolder("sets", ("mails",), (MAILS,)),
    )

    @pytest.fixture
    def view(self):
        graph = {"semikpca graph": 88.0}
        return accuracy_view(self.SPEC, VERSIONS, [make_record(cell, graph) for cell in RARE_CELLS])

    def test_rare_sets_and_sets_of_the_users_have_balanced_accuracy_and_f1_by_labels(self, view):
        rare, folder, text = view["rare"]
        assert [table["label"] for table in view["rare"]] == ["Rare classes", "Folder", "text"]
        assert [column["labels"] for column in rare["columns"]] == ["1", "5"]
        assert [column["n_cells"] for column in rare["columns"]] == [2, 1]
        assert (rare["n_cells"], rare["n_rare_cells"]) == (3, 3)
        assert [column["labels"] for column in folder["columns"]] == ["1", "2"]
        for table in (rare, folder, text):
            for row in table["rows"]:
                assert set(row["whole"]) == {"accuracy_mean", "balanced_accuracy_mean", "rare_f1_mean", "best"}
                assert len(row["entries"]) == len(table["columns"])
        # Of 980 and 20 rows the first 901 are found on the mean of two draws, none of the second class.
        ours = rare["rows"][0]["whole"]
        assert (ours["accuracy_mean"], ours["rare_f1_mean"]) == (90.1, 0.0)
        assert ours["balanced_accuracy_mean"] == pytest.approx(100 * 901 / 980 / 2, abs=5e-5)

    def test_sets_without_a_rare_class_have_no_such_table(self, records):
        assert accuracy_view(SPEC, VERSIONS, records)["rare"] == []

    def test_rare_sets_draw_the_balanced_accuracy(self, view):
        measures = {entry["dataset"]: entry["measure"] for group in view["curves"] for entry in group["figures"]}
        assert measures == {"glass6": "balanced_accuracy", "mails": "accuracy"}

    def test_probabilities_are_shown_for_the_methods_that_have_them_and_the_best_is_marked(self, view):
        first = view["probabilities"][0]
        assert first["label"] == "All sets"
        assert [row["method"] for row in first["rows"]] == [CV, RBF]
        ours, rbf = first["rows"]
        assert ours["whole"]["calibration_error_mean"] == 0.05
        assert ours["whole"]["best"] == ["calibration_error_mean"]
        assert rbf["whole"]["best"] == ["brier_mean"]
        assert ours["whole"]["overconfidence_mean"] == -0.05
        assert [column["labels"] for column in first["columns"]] == ["1", "2", "5", "1 and 2"]

    def test_the_figure_of_calibration_errors_has_the_reference_first(self, view):
        assert view["calibration"] == {"labels": [1, 2, 5], "errors": {CV: [0.05] * 3, RBF: [0.2] * 3}}

    def test_the_summary_has_cards_and_sentences_on_both(self, view):
        cards = {card["what"]: card for card in view["summary"]["cards"]}
        assert "best peer" in cards["mean balanced accuracy on the sets with a rare class"]["aside"]
        text = " ".join(view["summary"]["sentences"])
        assert "On the sets with a rare class its balanced accuracy is" in text
        assert "Its probabilities have a calibration error of 0.050 and are too cautious by 0.050." in text
        assert "The best of its kernels alone in each cell, which only the test labels can tell, has 88.1%." in text

    def test_the_best_single_kernel_is_the_last_row_and_uses_the_test_labels(self, view):
        assert view["headline"][-1]["method"] == BEST_KERNEL
        assert view["headline"][-1]["kind"] == "oracle"
        assert BEST_KERNEL not in [row["method"] for table in view["probabilities"] for row in table["rows"]]

    def test_the_page_shows_all_of_it(self, view):
        page = Page(render_accuracy_report(view, make_figures(view)))
        rare, probabilities = page.section("rare"), page.section("probabilities")
        assert "3 of 3 cells have a rare class" in rare
        assert "1 per class5 per class" in rare
        assert "0.0500.300−0.050" in probabilities  # the cells of ours: calibration error, Brier, over-confidence
        assert {"#rare", "#probabilities"} <= {element["href"] for element in page.all("a")}
        shown = page.section("data")
        assert "mailsFolder, text" in shown
        assert "as they are" in shown
        assert "standardized" in shown

    def test_the_settings_say_how_sets_of_the_folder_were_labeled_and_cut(self, view):
        (folder,) = [setting["value"] for setting in view["settings"] if setting["name"] == "Folder"]
        assert folder.startswith("1, 2, 5 and 10 labels of each class")
        assert "more than 1,200 rows" in folder

    def test_figures_are_drawn_of_balanced_accuracies_and_calibration_errors(self, view, tmp_path):
        pytest.importorskip("matplotlib", reason="figures need it")
        records = [make_record(cell) for cell in RARE_CELLS]
        write_accuracy_outputs(tmp_path, self.SPEC, VERSIONS, records)
        alts = [element["alt"] for element in Page((tmp_path / "report.html").read_text(encoding="utf-8")).all("img")]
        assert any(
            alt.startswith("Mean calibration error in points against labels per class (1, 2, 5)") for alt in alts
        )
        assert any(alt.startswith("Mean balanced accuracy against the number of labels on glass6") for alt in alts)


class TestPage:
    def test_nothing_is_fetched_and_nothing_runs(self, view):
        page = Page(render_accuracy_report(view, make_figures(view)))
        assert not page.all("script")
        assert [element["href"] for element in page.all("link")] == ["data:,"]
        assert all(element["href"].startswith("#") for element in page.all("a"))
        assert all(element["src"].startswith("data:image/svg+xml,") for element in page.all("img"))
        assert not [name for element in page.elements for name in element if name.startswith("on")]
        (style,) = page.all("style")
        assert not re.search(r"@import|url\(", style["text"])
        assert "prefers-color-scheme: dark" in style["text"]

    def test_markup_in_names_is_escaped_wherever_they_stand(self, view):
        name = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"
        text = json.dumps(view)
        for known in ("heart", "wine", SVC):
            text = text.replace(json.dumps(known), json.dumps(name))
        hostile = json.loads(text)
        hostile["command"] = hostile["title"] = name
        hostile["failures"] = [{"cell": name, "method": name, "message": name, "n_draws": 1}]
        hostile["absent"] = [name]
        html = render_accuracy_report(hostile, make_figures(view))
        assert "<script" not in html
        assert len(Page(html).all("img")) == len(make_figures(view))

    def test_losses_are_listed_with_the_peer_that_won(self, view):
        text = Page(render_accuracy_report(view, {})).section("losses")
        assert "1 of 4 cells" in text
        assert text.endswith("winetuning590.1svc95.6−5.5")  # the cells of its only row

    def test_a_run_without_a_loss_says_so(self):
        cells = [cell for cell in CELLS if not cell.flipped and cell.dataset != "wine"]
        view = accuracy_view(SPEC, VERSIONS, [make_record(cell) for cell in cells])
        assert "In none of the 3 cells" in Page(render_accuracy_report(view, {})).section("losses")

    def test_the_oracle_is_marked_wherever_it_has_a_row(self, view):
        rows = [element["text"] for element in Page(render_accuracy_report(view, {})).all("th")]
        marked = [text for text in rows if text.startswith(BEST) and "uses the test labels" in text]
        assert len(marked) == 5  # by group, by labels of all sets, of the paper's and of the tuning half, wrong labels

    def test_every_result_is_shown_with_its_place_in_color(self, view):
        html = render_accuracy_report(view, {})
        (cells,) = re.findall(
            r'<th scope="row" class="name dataset">banana</th><th scope="row" class="labels">5</th>(.*)', html
        )
        shown = re.findall(r'<td class="(\w*)">([\d.]+) <span class="std">± ([\d.]+)</span>', cells)
        # In the order of ranks over all cells, the oracle without a color.
        assert [place for place, _, _ in shown] == ["r1", "r2", "r3", "", ""]
        assert [mean for _, mean, _ in shown] == ["90.1", "89.1", "85.1", "80.1", "95.1"]

    def test_links_lead_to_sections_that_are_there(self, view):
        bare = accuracy_view(SPEC, VERSIONS, [make_record(made_cell("heart", 3))])
        for shown, figures in ((view, make_figures(view)), (bare, {})):
            page = Page(render_accuracy_report(shown, figures))
            ids = [element["id"] for element in page.elements if "id" in element]
            assert len(ids) == len(set(ids))
            assert {element["href"][1:] for element in page.all("a")} <= set(ids)

    def test_tables_have_captions_and_heads_say_what_they_head(self, view):
        page = Page(render_accuracy_report(view, make_figures(view)))
        assert len(page.all("caption")) == len(page.all("table"))
        assert all(caption["text"].strip() for caption in page.all("caption"))
        assert all("scope" in element for element in page.all("th"))

    def test_headings_go_down_by_one_level_at_a_time(self, view):
        page = Page(render_accuracy_report(view, make_figures(view)))
        levels = [int(element["tag"][1]) for element in page.elements if re.fullmatch(r"h[1-6]", element["tag"])]
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))

    def test_settings_versions_and_command_are_shown(self, view):
        text = Page(render_accuracy_report(view, {})).section("settings")
        assert view["command"] in text
        assert "numpy 2.1.0" in text
        assert "LogisticRegression" not in text  # no method of this run
        for setting in view["settings"]:
            assert setting["value"] in text

    def test_one_draw_is_shown_without_a_spread(self):
        spec = AccuracySpec(datasets=("heart",), methods=METHODS, repetitions=1)
        view = accuracy_view(spec, VERSIONS, [make_record(made_cell("heart", 3), draws=1)])
        page = Page(render_accuracy_report(view, {}))
        assert not [cell for cell in page.all("td") if "±" in cell["text"]]

    def test_rendering_leaves_the_view_as_it_was_and_is_repeatable(self, view):
        before = copy.deepcopy(view)
        assert render_accuracy_report(view, make_figures(view)) == render_accuracy_report(before, make_figures(view))
        assert view == before


class TestOutputs:
    def test_all_files_are_written_and_begin_with_their_columns(self, records, tmp_path):
        pytest.importorskip("matplotlib", reason="figures need it")
        done = []
        write_accuracy_outputs(tmp_path, SPEC, VERSIONS, records, progress=lambda *numbers: done.append(numbers))
        assert done == [(1, 4), (2, 4), (3, 4), (4, 4)]
        sizes = {}
        for name in ("results", "summary", "tests", "behind", "noise"):
            with open(tmp_path / f"{name}.csv", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            sizes[name] = len(rows)
            assert not next(iter(rows[0])).startswith("#")
        assert sizes["results"] == 5 * 5 + 4
        assert sizes["behind"] == 1
        assert sizes["noise"] == 2 * 5
        html = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert len(Page(html).all("img")) == 4  # ranks, calibration, heart and twonorm

    def test_tables_without_rows_still_have_their_columns(self, tmp_path):
        spec = AccuracySpec(datasets=("heart",), methods=(SVC,), repetitions=2)
        only = [make_record(made_cell("heart", n)).without([CV, RBF, BEST, KNN]) for n in (3, 6)]
        write_accuracy_outputs(tmp_path, spec, VERSIONS, only)
        assert (tmp_path / "behind.csv").read_text().startswith("dataset,group,labels")
        assert (tmp_path / "tests.csv").read_text() == (
            "group,unit,peer,n_pairs,difference_mean,wins,ties,losses,p_value,p_value_holm\n"
        )
