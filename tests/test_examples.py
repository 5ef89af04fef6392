"""Examples and pages: what they show is what comes out, and what they quote is what stands in the source."""

import contextlib
import io
import re
import runpy
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import semikpca
from semikpca.datasets import make_four_clusters

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRACT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][0]

# The certificate prints six digits, so half a unit of the sixth may be rounded away.
SIX_DIGITS = 5e-6

# A fence with a language and a file: the block is a quotation of that file.
QUOTED_BLOCK = re.compile(r"^```\w+ (?P<file>\S+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
QUOTATIONS = list(QUOTED_BLOCK.finditer(ARCHITECTURE))


@pytest.fixture
def run_example(monkeypatch, capsys):
    """A function that runs an example as a program, in this process, and returns what it prints."""

    def run(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def first_example():
    """The names in the first example, without running it."""
    return runpy.run_path(str(EXAMPLES / "plot_four_clusters.py"))


def number_after(text, words):
    """The first number that follows these words in a text."""
    return float(re.search(re.escape(words) + r"\D*?([\d.]+)", text).group(1).rstrip("."))


# -- the first example -----------------------------------------------------------------------------------------


def test_four_clusters_get_nearly_all_their_labels_from_four(run_example):
    output = run_example("plot_four_clusters.py")
    assert "4 labels for 400 rows" in output
    # The paper reports 92.7 ± 6.1 % for this data, this rule and four labels drawn anywhere; even odds are 50 %.
    assert number_after(output, "Right on") > 90


def test_the_printed_bound_is_the_inverse_of_the_second_eigenvalue(run_example):
    X, _ = make_four_clusters(400, random_state=0)
    distances = np.sqrt(((X[:, np.newaxis] - X) ** 2).sum(axis=2))
    median = np.median(distances[np.triu_indices(400, k=1)])
    eigenvalues = np.linalg.eigvalsh(np.exp(-(distances**2) / (2 * median**2)))
    output = run_example("plot_four_clusters.py")
    assert number_after(output, "error weight below") == pytest.approx(1 / eigenvalues[-2], rel=SIX_DIGITS)
    assert "strongly convex, one solution" in output


def test_rows_to_label_next_have_no_label_yet(run_example):
    output = run_example("plot_four_clusters.py")
    suggested = [int(row) for row in re.findall(r"^  row +(\d+)", output, re.MULTILINE)]
    example = first_example()
    _, _, y = example["few_labels"]()
    assert len(set(suggested)) == example["N_SUGGESTED"]
    assert (y[suggested] == -1).all()


def test_the_picture_shows_both_classes(run_example, tmp_path):
    image = pytest.importorskip("matplotlib.image")
    path = tmp_path / "four_clusters.png"
    assert str(path) in run_example("plot_four_clusters.py", "--plot", path)
    pixels = (255 * image.imread(path)[..., :3]).round().astype(int)
    for color in first_example()["COLORS"]:
        shade = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
        # Two large markers in each panel and about two hundred small ones are thousands of pixels of each color.
        assert (pixels == shade).all(axis=2).sum() > 1000


def test_the_first_example_needs_no_matplotlib(run_example, tmp_path, monkeypatch):
    for module in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path = tmp_path / "four_clusters.png"
    output = run_example("plot_four_clusters.py", "--plot", path)
    assert "Convexity certificate" in output
    assert "matplotlib is not installed" in output
    assert not path.exists()


# -- the other examples ----------------------------------------------------------------------------------------


def test_the_audit_finds_the_wrong_labels(run_example):
    output = run_example("audit_and_suggest.py")
    audited = re.findall(r"^ +\d+ +[ABC] +[ABC] +[\d.]+(.*)$", output, re.MULTILINE)
    assert [remark.strip() for remark in audited[:3]] == ["<- wrong"] * 3
    assert "finds 4 of the 4 mistakes" in output


def test_correcting_wrong_labels_makes_the_others_agree_more(run_example):
    output = run_example("audit_and_suggest.py")
    found_again = [float(share) for share in re.findall(r"([\d.]+)% of the given labels found again", output)]
    before, after = found_again
    assert after > before


def test_letters_are_sorted_by_a_string_kernel(run_example):
    output = run_example("text_documents.py")
    # Three topics of equal size: 8 of 24 would come right by chance.
    assert number_after(output, "Right on") >= 18
    later = output.split("Letters that came in later:")[1]
    assert re.findall(r"^  (\w+)", later, re.MULTILINE) == ["delivery", "payment", "account"]


def test_numbers_along_a_spiral_are_filled_in_better_than_by_ridge_regression(run_example, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "regression.png"
    output = run_example("plot_regression.py", "--plot", path)
    ours = number_after(output, "SemiKPCARegressorCV")
    assert number_after(output, "ten suggested numbers more") < ours < number_after(output, "kernel ridge regression")
    assert ours < 0.5  # of what the mean of the numbers is worth
    assert int(re.search(r"(\d+)% of the numbers are in their intervals", output).group(1)) >= 70  # of 80
    assert path.stat().st_size > 10_000


# -- README ----------------------------------------------------------------------------------------------------


def test_the_readme_example_prints_what_the_readme_shows():
    code, shown = re.search(r"```python\n(.*?)```\s+```text\n(.*?)```", README, re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == shown


def test_the_readme_labels_the_rows_of_the_first_example():
    rows = [int(row) for row in re.search(r"y\[\[(.*?)\]\]", README).group(1).split(",")]
    _, _, y = first_example()["few_labels"]()
    assert rows == np.flatnonzero(y != -1).tolist()


@pytest.mark.parametrize("name", semikpca.__all__)
def test_the_readme_names_every_estimator(name):
    assert f"`{name}`" in README


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [t for t in targets if not t.startswith("https://") and not (page.parent / t).exists()]
    assert not missing


# -- pages that must not drift ---------------------------------------------------------------------------------


@pytest.mark.parametrize("block", QUOTATIONS, ids=lambda block: block["file"])
def test_quotations_stand_in_the_source(block):
    assert block["code"] in (ROOT / block["file"]).read_text(encoding="utf-8")


def test_every_base_class_that_can_be_added_to_is_quoted():
    quoted = {block["file"] for block in QUOTATIONS}
    assert {f"src/semikpca/{layer}/_base.py" for layer in ("kernels", "operators", "solvers")} <= quoted


def test_the_page_of_layers_follows_the_import_contract():
    table = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", ARCHITECTURE.split("## How a fit goes")[0], re.MULTILINE)
    on_the_page = [set(re.findall(r"`(\w+)`", row)) for row in table]
    lowest_first = [set(layer.split(" | ")) for layer in reversed(CONTRACT["layers"])]
    n_users = len(on_the_page[-1])  # the last row of the page holds the layers on top, one above the other
    assert on_the_page[:-1] == lowest_first[:-n_users]
    assert on_the_page[-1] == set().union(*lowest_first[-n_users:])


def test_pre_commit_runs_the_commands_of_make_check():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE).group(1)
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"entry: \.venv/bin/(.*)", hooks) == re.findall(r"\t\$\(BIN\)/(.*)", recipe)


def test_contributing_sends_people_to_tests_that_exist():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for path in sorted(set(re.findall(r"\btests/[\w/.]+\w", page))):
        place = ROOT / path
        assert place.is_file() or list(place.rglob("test_*.py")), f"no tests in {path}"


def test_the_changelog_speaks_of_this_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changelog, re.MULTILINE).group(1) == semikpca.__version__


def test_decisions_are_numbered_without_gaps_and_dated():
    notes = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [int(note.name[:4]) for note in notes] == list(range(1, len(notes) + 1))
    for note in notes:
        title, _, date = note.read_text(encoding="utf-8").splitlines()[:3]
        assert title.startswith(f"# {note.name[:4]}. ")
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", date)


PASTED = re.compile(r" {4}(\$ )?(\.venv/|[A-Z_]+=\S+ )?(pip|make|semikpca|python|dask|git|bin/pytest)\b")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "fuzz/README.md", "docs"])
def test_a_command_line_can_be_pasted_with_what_is_said_beside_it(page):
    pages = [ROOT / page] if page != "docs" else sorted((ROOT / "docs").glob("*.md"))
    lines = [line for path in pages for line in path.read_text(encoding="utf-8").splitlines() if PASTED.match(line)]
    assert lines
    for line in lines:
        command, *_ = line.split("#")
        assert re.search(r"\S {2,}\S", command.strip()) is None, line
