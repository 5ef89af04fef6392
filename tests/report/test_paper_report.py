"""The view holds every number of the page, and the page shows the view and nothing from outside."""

import copy
import json
import math
import re
from itertools import pairwise
from urllib.parse import unquote

import numpy as np
import pytest

from html_page import Page
from semikpca.experiments import Cell, CellRecord, ModelRecord, PaperSpec, run_cell

pytest.importorskip("jinja2", reason="the page is a jinja2 template, which comes with the extra `paper`")

from semikpca.report import paper_view, render_paper_report

RANKED = ("semi_kpca_1", "semi_lssvm", "subs_lssvm")
VERSIONS = {"semikpca": "0.1.0", "numpy": "2.1.0"}
N_UNLABELED = 1000  # a hit is a tenth of a point, the last digit that the paper prints
N_DRAWS = 4
EIGENVALUES = (8.0, 2.0, 1.0, 0.5)
ROUNDING = 1e-9  # a few operations in double precision on numbers up to 100

# Copied from the paper's Table 2: the means of its three models, in its order.
PRINTED = {
    ("iris", 2): {"best": (91.4, 73.3, 72.6), "fixed": (91.1, 73.1, 72.6)},
    ("iris", 15): {"best": (95.8, 98.1, 99.9), "fixed": (95.3, 98.1, 99.9)},
    ("heart", 27): {"best": (80.7, 80.0, 80.7), "fixed": (80.4, 76.9, 80.0)},
    ("synth", 4): {"best": (93.1, 86.7, 87.6), "fixed": (92.7, 86.2, 63.2)},
    ("sonar", 2): {"best": (52.7, 55.7, 50.0), "fixed": (52.1, 55.1, 50.0)},
}


def make_record(dataset, n_labeled, changes=None, repetitions=N_DRAWS):
    """Return a record whose means are the paper's, all draws alike, but for ``changes`` by (choice, model)."""
    means = {("best", "semi_kpca_0"): 50.0, ("fixed", "semi_kpca_0"): 40.0}
    for choice, values in PRINTED[dataset, n_labeled].items():
        means.update({(choice, model): value for model, value in zip(RANKED, values, strict=True)})
    means.update(changes or {})

    def hits(choice, model):
        return np.full(repetitions, round(means[choice, model] * N_UNLABELED / 100))

    weights = {"semi_kpca_0": 0.0625, "semi_kpca_1": 0.25, "semi_lssvm": 3.0, "subs_lssvm": 30.0}
    return CellRecord(
        cell=Cell(dataset, n_labeled),
        n_samples=N_UNLABELED + n_labeled,
        n_features=4,
        majority_share=0.6,
        eigenvalues=EIGENVALUES,
        models={
            model: ModelRecord(
                error_weights=np.array([0.1, 0.2]),
                hits=np.stack([np.zeros(repetitions, dtype=int), hits("best", model)]),
                fixed_error_weight=weight,
                fixed_hits=hits("fixed", model),
            )
            for model, weight in weights.items()
        },
    )


def make_view(records, repetitions=N_DRAWS, **options):
    names = tuple(dict.fromkeys(record.cell.dataset for record in records))
    return paper_view(PaperSpec(datasets=names, repetitions=repetitions, **options), VERSIONS, records)


def find_entry(view, dataset, n_labeled, choice, model):
    (table,) = (table for table in view["table_2"] if table["dataset"] == dataset)
    (row,) = (row for row in table["rows"] if row["n_labeled"] == n_labeled)
    (chosen,) = (chosen for chosen in row["choices"] if chosen["name"] == choice)
    (entry,) = (entry for entry in chosen["models"] if entry["model"] == model)
    return entry


def make_figures(view):
    curves = view["figure_3"]["first"] + [curve for group in view["figure_3"]["others"] for curve in group["curves"]]
    return {name: make_svg(name) for name in ["surfaces", "schemes", *(curve["figure"] for curve in curves)]}


def make_svg(text):
    return f'<svg xmlns="http://www.w3.org/2000/svg">\n<text fill="#123">50%25 & {text} + \'é\'</text></svg>'


@pytest.fixture
def records():
    return [make_record("heart", 27), make_record("iris", 2), make_record("iris", 15), make_record("synth", 4)]


@pytest.fixture
def view(records):
    return make_view(records)


@pytest.fixture(scope="module")
def computed():
    """A small run: two data sets that need no package, all label counts, few weights and draws."""
    spec = PaperSpec(datasets=("iris", "synth"), repetitions=3, n_weights=4)
    return spec, [run_cell(spec, cell) for cell in spec.cells()]


class TestView:
    def test_it_is_plain_data_that_survives_json(self, computed):
        spec, records = computed
        view = paper_view(spec, VERSIONS, records)
        assert json.loads(json.dumps(view, allow_nan=False)) == view

    def test_a_whole_run_covers_six_printed_cells_for_each_label_count(self, computed):
        spec, records = computed
        summary = paper_view(spec, VERSIONS, records)["summary"]
        assert summary["n_cells"] == 2 * 4 * 6
        assert sum(bar["count"] for bar in summary["histogram"]) == 2 * 4 * 6

    def test_cells_are_counted_within_two_and_three_standard_errors(self):
        # Both cells have a standard error of 0.3 points, the least there is: the paper's spread is 0.3.
        changes = {("best", "subs_lssvm"): 99.9 - 0.7, ("fixed", "subs_lssvm"): 99.9 - 1.0}
        summary = make_view([make_record("iris", 15, changes)])["summary"]
        assert [(within["errors"], within["count"]) for within in summary["within"]] == [(2, 4), (3, 5)]
        assert summary["sentences"][0].startswith("4 of 6 cells lie within 2 and 5 within 3 standard errors")

    def test_a_part_of_the_paper_is_not_passed_off_as_all_of_it(self):
        assert "covers 6 of them" in make_view([make_record("iris", 15)])["summary"]["sentences"][0]

    def test_only_cells_beyond_three_standard_errors_are_listed_in_either_direction(self):
        changes = {
            ("best", "subs_lssvm"): 99.9 - 0.7,
            ("fixed", "subs_lssvm"): 99.9 - 1.0,
            ("best", "semi_kpca_1"): 99.9,  # 95.8 ± 3.7: z = 4.1 / (3.7 / sqrt(10))
        }
        listed = make_view([make_record("iris", 15, changes)])["differences"]
        assert [(row["dataset"], row["n_labeled"], row["choice"], row["label"]) for row in listed] == [
            ("iris", 15, "Best γ", "Semi-KPCA, k = 1"),
            ("iris", 15, "Fixed γ", "Subs-LSSVM"),
        ]
        assert [row["z"] for row in listed] == [round(4.1 / (3.7 / math.sqrt(10)), 3), round(-1.0 / 0.3, 3)]

    def test_models_are_ranked_within_their_block_ours_and_the_papers_apart(self):
        view = make_view([make_record("iris", 15, {("best", "semi_kpca_1"): 99.0})])
        entries = [find_entry(view, "iris", 15, "best", model) for model in RANKED]
        assert [entry["rank"] for entry in entries] == [2, 3, 1]
        assert [entry["paper_rank"] for entry in entries] == [3, 2, 1]

    def test_equal_means_share_a_rank(self, view):
        entries = [find_entry(view, "heart", 27, "best", model) for model in RANKED]
        assert [entry["paper_rank"] for entry in entries] == [1, 3, 1]

    def test_semi_kpca_without_a_removed_component_is_shown_but_not_ranked(self, view):
        entry = find_entry(view, "iris", 2, "best", "semi_kpca_0")
        assert entry["mean"] == pytest.approx(50.0, abs=ROUNDING)
        assert {entry[name] for name in ("rank", "paper_rank", "paper_mean", "paper_std", "z")} == {None}

    def test_a_rank_is_not_changed_by_the_model_that_is_not_ranked(self):
        view = make_view([make_record("iris", 15, {("best", "semi_kpca_0"): 100.0})])
        assert find_entry(view, "iris", 15, "best", "subs_lssvm")["rank"] == 1

    def test_the_papers_numbers_stand_beside_ours(self, view):
        entry = find_entry(view, "synth", 4, "fixed", "subs_lssvm")
        assert (entry["paper_mean"], entry["paper_std"], entry["z"]) == (63.2, 21.6, 0.0)

    def test_one_draw_has_no_spread(self):
        view = make_view([make_record("iris", 2, repetitions=1)], repetitions=1)
        assert find_entry(view, "iris", 2, "best", "semi_kpca_1")["std"] is None
        assert find_entry(view, "iris", 2, "best", "semi_kpca_1")["paper_std"] == 14.9

    def test_wins_at_the_smallest_label_count_are_counted_with_the_papers(self):
        changes = {("best", "subs_lssvm"): 95.0}
        summary = make_view([make_record("iris", 2, changes), make_record("sonar", 2), make_record("synth", 4)])[
            "summary"
        ]
        assert summary["leads"] == [{"labels": "smallest", "ours": 1, "paper": 2, "n_datasets": 3}]
        assert "ahead at the smallest label count on 1 of 3 data sets" in summary["sentences"][2]
        assert "(the paper: 2)" in summary["sentences"][2]

    def test_losses_at_the_largest_label_count_stand_beside_the_wins(self, view):
        at_most = view["summary"]["leads"][1]
        assert at_most == {"labels": "largest", "ours": 1, "paper": 1, "n_datasets": 2}  # heart by a tie, not iris
        assert "ahead at the largest label count on 1 of 2 data sets" in view["summary"]["sentences"][3]

    def test_first_places_are_counted_for_every_share_of_labels_and_choice(self):
        changes = {("fixed", "subs_lssvm"): 95.0}
        rows = make_view([make_record("iris", 2, changes), make_record("synth", 4)])["firsts"]
        assert [(row["label_share"], row["n_datasets"]) for row in rows] == [(1, 2)]
        counts = {
            choice["name"]: [(entry["ours"], entry["paper"]) for entry in choice["models"]]
            for choice in rows[0]["choices"]
        }
        assert counts == {"best": [(2, 2), (0, 0), (0, 0)], "fixed": [(1, 2), (0, 0), (1, 0)]}

    def test_what_chance_allows_is_that_of_two_independent_means(self):
        repetitions, n_pairs = 5, 200_000
        generator = np.random.default_rng(7)
        difference = generator.normal(0, 1, n_pairs) + generator.normal(0, math.sqrt(10 / repetitions), n_pairs)
        view = make_view([make_record("iris", 2, repetitions=repetitions)], repetitions=repetitions)
        for within in view["summary"]["within"]:
            simulated = 100 * np.mean(np.abs(difference) <= within["errors"])
            # The standard error of a simulated share is below 0.12 points.
            assert within["percent_by_chance"] == pytest.approx(simulated, abs=0.5)

    def test_scores_are_counted_in_bars_of_half_a_standard_error(self):
        changes = {("best", "subs_lssvm"): 99.9 - 0.7, ("fixed", "subs_lssvm"): 99.9 + 0.1}  # z = −2.33 and +0.33
        histogram = make_view([make_record("iris", 15, changes)])["summary"]["histogram"]
        counted = {(bar["low"], bar["high"]): bar["count"] for bar in histogram if bar["count"]}
        assert counted == {(-2.5, -2.0): 1, (0.0, 0.5): 5}

    def test_scores_far_out_are_held_by_the_outermost_bars(self):
        changes = {("best", "subs_lssvm"): 10.0, ("fixed", "semi_lssvm"): 99.9}
        bars = make_view([make_record("iris", 2, {("best", "semi_kpca_1"): 10.0}), make_record("synth", 4, changes)])
        counts = [bar["count"] for bar in bars["summary"]["histogram"]]
        assert (counts[0], counts[-1], sum(counts)) == (2, 1, 12)

    def test_certificates_hold_the_interval_of_both_cuts(self, view):
        assert [item["dataset"] for item in view["certificates"]] == ["heart", "iris", "synth"]
        certificate = view["certificates"][2]
        assert certificate["eigenvalues"] == list(EIGENVALUES)
        assert [cut["k"] for cut in certificate["cuts"]] == [0, 1]
        assert [cut["error_weight_max"] for cut in certificate["cuts"]] == [1 / 8, 1 / 2]
        assert [cut["middle"] for cut in certificate["cuts"]] == [0.0625, 0.25]
        assert [cut["relative_percent"] for cut in certificate["cuts"]] == [50.0, 50.0]
        assert [cut["condition_number"] for cut in certificate["cuts"]] == [2.0, 2.0]
        assert "components removed     1" in certificate["cuts"][1]["text"]

    def test_the_middle_weight_of_a_run_is_the_papers_rule(self, computed):
        spec, records = computed
        for certificate in paper_view(spec, VERSIONS, records)["certificates"]:
            first, second = certificate["eigenvalues"][:2]
            # The record's weight stays inside the bound by the rounding of its eigenvalues, far less than this.
            assert certificate["cuts"][1]["middle"] == pytest.approx(1 / math.sqrt(first * second), rel=1e-9)

    def test_table_1_has_a_row_for_each_data_set_in_order(self, view):
        assert [row["dataset"] for row in view["table_1"]] == ["heart", "iris", "synth"]
        assert view["table_1"][1]["n_samples"] == N_UNLABELED + 2
        assert view["table_1"][1]["majority_percent"] == 60.0

    def test_the_command_names_the_data_sets_of_a_part_only(self, records):
        assert make_view(records, seed=3)["command"] == (
            "semikpca paper --repetitions 4 --seed 3 --datasets heart,iris,synth"
        )
        whole = paper_view(PaperSpec(repetitions=100, seed=1), VERSIONS, records)
        assert whole["command"] == "semikpca paper --repetitions 100 --seed 1"

    def test_answers_to_the_papers_statements_are_those_of_the_numbers(self):
        changes = {
            ("best", "semi_kpca_0"): 99.0,
            ("fixed", "semi_kpca_0"): 91.1,
            ("fixed", "semi_lssvm"): 59.0,
        }
        records = [make_record("iris", 2, changes)]
        k_zero, semi_above_subs, lost, below = make_view(records)["questions"]
        assert k_zero["ours"] == ["k = 1 has the higher mean in 0 of 2 comparisons, k = 0 in 1"]
        assert semi_above_subs["paper"] == ["In 2 of 2 comparisons (best and fixed γ)"]
        assert semi_above_subs["ours"] == ["In 1 of 2 comparisons (best and fixed γ)"]
        assert lost["paper"] == ["Semi-KPCA, k = 1: 0.3", "Semi-LSSVM: 0.2", "Subs-LSSVM: 0.0"]
        assert lost["ours"] == ["Semi-KPCA, k = 1: 0.3", "Semi-LSSVM: 14.3", "Subs-LSSVM: 0.0"]
        assert below["paper"][1] == "Semi-LSSVM: 0 of 2"
        assert below["ours"][1] == "Semi-LSSVM: 1 of 2"  # 59.0 is below the share of the larger class, 60

    def test_the_papers_two_curves_come_first_and_none_is_named_twice(self, records):
        figure = make_view(records)["figure_3"]
        assert [curve["figure"] for curve in figure["first"]] == ["curves/synth-4"]
        assert [[curve["figure"] for curve in group["curves"]] for group in figure["others"]] == [
            ["curves/heart-27"],
            ["curves/iris-2", "curves/iris-15"],
        ]


class TestPage:
    def test_the_same_view_gives_the_same_bytes(self, computed):
        spec, records = computed
        view = paper_view(spec, VERSIONS, records)
        figures = make_figures(view)
        page = render_paper_report(view, figures)
        again = render_paper_report(json.loads(json.dumps(view)), dict(reversed(figures.items())))
        assert page.encode() == again.encode()

    def test_nothing_is_fetched_and_nothing_runs(self, view):
        html = render_paper_report(view, make_figures(view))
        page = Page(html)
        assert not page.all("script")
        assert [element["href"] for element in page.all("link")] == ["data:,"]
        assert all(element["href"].startswith("#") for element in page.all("a"))
        assert all(element["src"].startswith("data:image/svg+xml,") for element in page.all("img"))
        assert not [name for element in page.elements for name in element if name.startswith("on")]
        (style,) = page.all("style")
        assert not re.search(r"@import|url\(", style["text"])
        (policy,) = (element for element in page.all("meta") if element.get("http-equiv") == "Content-Security-Policy")
        assert "default-src 'none'" in policy["content"]

    def test_markup_in_names_is_escaped_wherever_they_stand(self, view):
        name = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"
        hostile = json.loads(json.dumps(view).replace('"iris"', json.dumps(name)))
        hostile["versions"] = [{"name": name, "version": name}]
        hostile["command"] = hostile["title"] = name
        hostile["settings"][0]["value"] = hostile["table_1"][0]["note"] = name
        entry = find_entry(view, "iris", 2, "best", "semi_lssvm")
        hostile["differences"] = [{**entry, "dataset": name, "n_labeled": 2, "choice": name, "label": name}]
        html = render_paper_report(hostile, make_figures(view))
        page = Page(html)
        assert "<script" not in html
        assert "&lt;script&gt;alert(" in html
        assert len(page.all("img")) == len(make_figures(view))
        shown = [element["text"] for element in page.all("th") if name in element["text"]]
        assert len(shown) == 4  # Table 2, the differences, the certificates, Table 1

    def test_every_number_of_table_2_is_shown(self, view):
        page = Page(render_paper_report(view, {}))
        cells = [element["text"] for element in page.all("td") if element.get("class", "").startswith("result")]
        assert len(cells) == 4 * 2 * 4
        order = [
            (table["dataset"], row["n_labeled"], choice["name"], entry["model"])
            for table in view["table_2"]
            for row in table["rows"]
            for choice in row["choices"]
            for entry in choice["models"]
        ]
        shown = [
            " ".join(cells[order.index(("iris", 15, "best", model))].split())
            for model in ("semi_kpca_1", "semi_kpca_0")
        ]
        assert shown == ["place 3 95.8 ± 0.0 the paper: place 3 95.8 ± 3.7 z 0.0", "50.0 ± 0.0"]

    def test_ranks_have_a_digit_and_not_only_a_color(self, view):
        page = Page(render_paper_report(view, {}))
        in_table = [element for element in page.all("div") if "td" in element["inside"]]
        ranked = [
            (found[1], element["text"])
            for element in in_table
            if (found := re.search(r"\br([123])\b", element["class"]))
        ]
        assert len(ranked) == 4 * 2 * 3 * 2
        assert all(re.search(rf"place {rank} \d+\.\d", text) for rank, text in ranked)

    def test_minus_signs_are_minus_signs_and_zero_has_no_sign(self):
        changes = {
            ("best", "semi_kpca_1"): 95.8 + 0.1,  # in units of 3.7 / sqrt(10): +0.09
            ("best", "semi_lssvm"): 98.1 - 0.1,  # in units of 2.8 / sqrt(10): −0.11
            ("best", "subs_lssvm"): 99.9 - 1.0,  # in units of 0.3: −3.33
        }
        html = render_paper_report(make_view([make_record("iris", 15, changes)]), {})
        scores = [element["text"] for element in Page(html).all("span") if re.match(r"z \S", element["text"])]
        assert scores == ["z +0.1", "z −0.1", "z −3.3", "z 0.0", "z 0.0", "z 0.0"]
        assert "−0.0" not in html
        assert "+0.0" not in html

    def test_differences_are_listed_or_their_absence_is_said(self, view):
        assert "None: all 24 cells lie within three standard errors." in render_paper_report(view, {})
        changed = make_view([make_record("iris", 15, {("fixed", "subs_lssvm"): 99.9 - 1.0})])
        html = render_paper_report(changed, {})
        assert "1 of 6 cells. All of them are listed" in html
        assert "−3.33" in html

    def test_it_says_that_the_best_weight_looks_at_the_test_labels(self, view):
        assert "picked by looking at the test labels" in render_paper_report(view, {})

    def test_summary_command_settings_and_versions_are_shown(self, view):
        text = "".join(element["text"] for element in Page(render_paper_report(view, {})).all("body"))
        for sentence in view["summary"]["sentences"]:
            assert sentence in text
        assert view["command"] in text
        for setting in view["settings"]:
            assert setting["value"] in text
        for certificate in view["certificates"]:
            for cut in certificate["cuts"]:
                assert cut["text"] in text
        assert "numpy 2.1.0" in text

    def test_figures_are_shown_once_each_and_come_back_unchanged(self, view):
        figures = make_figures(view)
        images = Page(render_paper_report(view, figures)).all("img")
        shown = [unquote(image["src"].removeprefix("data:image/svg+xml,")) for image in images]
        assert sorted(shown) == sorted(figures.values())
        assert all(image["alt"] for image in images)

    def test_the_papers_curves_are_open_and_the_others_folded(self, view):
        images = Page(render_paper_report(view, make_figures(view))).all("img")
        curves = [image for image in images if "error weight on" in image["alt"]]
        assert ["details" in image["inside"] for image in curves] == [False, True, True, True]
        assert "synth with 4 labels" in curves[0]["alt"]

    def test_missing_figures_are_left_out_without_a_trace(self, view):
        page = Page(render_paper_report(view, {}))
        assert not page.all("img")
        assert not [element for element in page.all("section") if element["id"] == "curves"]
        assert not [element for element in page.all("a") if element["href"] == "#curves"]
        some = Page(render_paper_report(view, {"curves/iris-15": make_svg("iris"), "schemes": make_svg("schemes")}))
        assert len(some.all("img")) == 2
        assert some.all("summary")[0]["text"].split() == ["iris", "15", "labels"]

    def test_links_lead_to_sections_that_are_there(self, view):
        for figures in ({}, make_figures(view)):
            page = Page(render_paper_report(view, figures))
            ids = [element["id"] for element in page.elements if "id" in element]
            assert len(ids) == len(set(ids))
            assert {element["href"][1:] for element in page.all("a")} <= set(ids)

    def test_tables_have_captions_and_heads_say_what_they_head(self):
        view = make_view([make_record("iris", 15, {("fixed", "subs_lssvm"): 95.0})])
        page = Page(render_paper_report(view, make_figures(view)))
        assert len(page.all("caption")) == len(page.all("table")) == 5
        assert all(caption["text"].strip() for caption in page.all("caption"))
        assert {element["scope"] for element in page.all("th")} == {"col", "colgroup", "row", "rowgroup"}

    def test_headings_go_down_by_one_level_at_a_time(self, view):
        page = Page(render_paper_report(view, make_figures(view)))
        levels = [int(element["tag"][1]) for element in page.elements if re.fullmatch(r"h[1-6]", element["tag"])]
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))

    def test_one_draw_is_shown_without_a_spread(self):
        view = make_view([make_record("iris", 15, {("fixed", "subs_lssvm"): 95.0}, repetitions=1)], repetitions=1)
        page = Page(render_paper_report(view, {}))
        ours = [element["text"] for element in page.all("div") if element.get("class", "").startswith("ours r")]
        assert not [text for text in ours[1:] if "±" in text]  # the first one is the sample in the legend

    def test_rendering_leaves_the_view_as_it_was(self, view):
        before = copy.deepcopy(view)
        render_paper_report(view, make_figures(view))
        assert view == before
