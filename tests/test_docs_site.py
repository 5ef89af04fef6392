"""The documentation site: it builds without a warning, loads nothing from elsewhere, and its examples run."""

import contextlib
import importlib.util
import inspect
import io
import os
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import semikpca
import semikpca.exceptions
import semikpca.kernels
import semikpca.labeling
import semikpca.model_selection
from semikpca.datasets import make_four_clusters

pytestmark = pytest.mark.slow  # the whole site is built, and programs are run that pages show

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

# Pages whose Python blocks make one program; the others tell of files or of a GPU.
PAGES_THAT_RUN = [
    *("index", "idea", "kernels", "certainty", "accepting", "losses", "regression", "coming-from", "large-data")
]
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n\n^```text\n(?P<shown>.*?)^```$)?", re.MULTILINE | re.DOTALL)

KERNELS = [
    f"semikpca.kernels.{name}"
    for name in semikpca.kernels.__all__
    if inspect.isclass(kernel := getattr(semikpca.kernels, name)) and issubclass(kernel, semikpca.kernels.Kernel)
]
ERRORS = [
    f"semikpca.exceptions.{name}"
    for name, item in vars(semikpca.exceptions).items()
    if inspect.isclass(item) and item.__module__ == "semikpca.exceptions"
]
PUBLIC = [
    *(f"{module.__name__}.{name}" for module in (semikpca, semikpca.labeling) for name in module.__all__),
    *(f"semikpca.model_selection.{name}" for name in semikpca.model_selection.__all__),
    *KERNELS,
    *ERRORS,
]


# -- the site ------------------------------------------------------------------------------------------------------


class PageReader(HTMLParser):
    """What a page loads, the places in it that can be linked to, and its text."""

    def __init__(self, page):
        super().__init__()
        self.loaded, self.ids, self.text = [], set(), []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        if tag != "a":  # what one may click on is not loaded
            self.loaded += [attributes[name] for name in ("src", "href", "data", "poster") if attributes.get(name)]

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder with the built site."""
    for package in ("mkdocs", "material", "mkdocstrings"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install 'semikpca[docs]'")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_page_is_on_the_site(site):
    wanted = [page.relative_to(DOCS).with_suffix(".html") for page in DOCS.rglob("*.md")]
    wanted += [Path(name) for name in ("contributing.html", "changelog.html", "decisions.html")]
    assert not [page for page in wanted if not (site / page).is_file()]


def test_pages_load_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        outside = [address for address in PageReader(page).loaded if re.match(r"(\w+:)?//", address)]
        assert not outside, f"{page.name}: {outside}"
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)[\s\"']*(https?:)?//", sheet.read_text(encoding="utf-8")), sheet.name


def test_what_pages_load_is_there(site):
    for page in site.rglob("*.html"):
        local = [a.partition("#")[0].partition("?")[0] for a in PageReader(page).loaded if not a.startswith("data:")]
        # The page for addresses that lead nowhere is shown at any depth, and so counts from the top.
        places = [site / a.lstrip("/") if page.name == "404.html" else page.parent / a for a in local if a]
        assert not [place for place in places if not place.exists()], page.name


def test_every_public_name_is_in_the_reference(site):
    places = set().union(*(PageReader(page).ids for page in (site / "reference").glob("*.html")))
    assert not [name for name in PUBLIC if name not in places]


def test_the_reference_has_methods_and_parameters(site):
    page = PageReader(site / "reference" / "estimators.html")
    assert {f"semikpca.SemiKPCAClassifier.{method}" for method in ("fit", "predict", "add_labels")} <= page.ids
    assert "n_components_removed" in "".join(page.text)


def test_quotations_of_source_are_shown_as_code(site):
    text = "".join(PageReader(site / "architecture.html").text)
    assert "class KernelOperator(ABC):" in text
    assert "```" not in text


# -- pages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES_THAT_RUN)
def test_examples_on_pages_print_what_the_page_shows(name):
    blocks = list(BLOCK.finditer((DOCS / f"{name}.md").read_text(encoding="utf-8")))
    assert blocks
    names = {}
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block["code"], f"{name}.md", "exec"), names)
        assert printed.getvalue() == (block["shown"] or "")


def test_equivalent_calls_are_held_to_what_they_state():
    page = (DOCS / "coming-from.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    assert [section.splitlines()[0] for section in sections if "\nassert " not in section] == []


def test_the_gallery_lists_every_example():
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == set(re.findall(r"\[(\w+\.py)\]", gallery))


# -- pictures ------------------------------------------------------------------------------------------------------


@pytest.fixture
def run_example(monkeypatch, capsys):
    """A function that runs an example as a program, in this process, and returns what it prints."""

    def run(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def shares(line):
    return [float(number) for number in re.findall(r"([\d.]+)%", line)]


def test_close_to_the_bound_the_second_component_takes_over(run_example):
    lines = run_example("plot_idea.py").splitlines()
    X, _ = make_four_clusters(400, random_state=0)
    distances = np.sqrt(((X[:, np.newaxis] - X) ** 2).sum(axis=2))
    median = np.median(distances[np.triu_indices(400, k=1)])
    eigenvalues = np.linalg.eigvalsh(np.exp(-(distances**2) / (2 * median**2)))[::-1]
    assert lines[0] == "Eigenvalues: " + ", ".join(f"{value:.1f}" for value in eigenvalues[:3]) + " "
    small, middle, close = (shares(line) for line in lines[3:6])
    assert small[1] > 90
    assert middle[1] > 90
    # At a share s of the bound component 2 has the factor s / (1 − s), here 1e4, and every other one at most 3.
    assert close[2] > 99


def test_moons_want_a_graph(run_example):
    moons = next(line for line in run_example("plot_kernels.py").splitlines() if line.startswith("two moons"))
    rbf, graph, linear, automatic = shares(moons)
    assert graph >= automatic > max(rbf, linear)


def test_draws_of_labels_are_repeated(run_example):
    output = run_example("plot_kernels.py", "--draws", 2)
    lines = [line for line in output.splitlines() if "±" in line]
    assert [line[:15].strip() for line in lines] == ["four clusters", "two moons", "long clouds", "clouds, scaled"]
    assert all(len(shares(line)) == 8 for line in lines)


def test_ten_labels_are_worth_more_than_with_label_spreading(run_example):
    ten, fifty = re.findall(r"right: ([\d.]+)% \(LabelSpreading: ([\d.]+)%\)", run_example("few_labels.py"))
    assert float(ten[0]) > float(ten[1])
    assert float(fifty[0]) > float(fifty[1])


def test_accepted_labels_are_as_seldom_wrong_as_promised(run_example):
    output = run_example("plot_acceptance.py")
    lines = re.findall(r"^ +(\d+)% +([\d,]+) +([\d.]+|nan)%$", output, re.MULTILINE)
    rates, accepted = [int(rate) for rate, _, _ in lines], [int(count.replace(",", "")) for _, count, _ in lines]
    assert rates == [2, 5, 10, 15]
    assert accepted == sorted(accepted)
    assert accepted[1] > 1_000
    for rate, (_, _, wrong) in zip(rates[1:], lines[1:], strict=True):
        assert float(wrong) <= rate
    # Sets miss the right class as seldom as promised, and those that may miss it more often are smaller.
    sets = re.findall(r"^sets at +(\d+)%: ([\d.]+) classes a row, ([\d.]+)%", output, re.MULTILINE)
    assert [int(rate) for rate, _, _ in sets] == [5, 10, 20]
    assert all(float(covered) >= 100 - int(rate) for rate, _, covered in sets)
    sizes = [float(size) for _, size, _ in sets]
    assert sizes == sorted(sizes, reverse=True)


def test_beyond_the_bound_two_minima_are_printed(run_example):
    lines = [line.split() for line in run_example("plot_losses.py").splitlines()[1:]]
    assert [line[3] for line in lines] == ["trivial", "unbounded", "unbounded", "trivial", "bounded", "bounded"]
    # A minimum is two numbers in brackets; without labels they are opposite to each other.
    assert [len(line[4:]) // 2 for line in lines] == [1, 0, 0, 1, 2, 2]
    one, _, other, _ = (float(number.strip("(),;")) for number in lines[5][4:])
    assert one == -other != 0


def test_the_surfaces_of_losses_are_drawn(run_example, tmp_path):
    image = pytest.importorskip("matplotlib.image")
    path = tmp_path / "losses.png"
    assert str(path) in run_example("plot_losses.py", "--plot", path)
    pixels = (255 * image.imread(path)[..., :3]).round().astype(int)
    for color, least in (((0, 0x9E, 0x73), 300), ((0xC2, 0x3B, 0x22), 500)):  # six minima, and two ways to fall
        assert (pixels == color).all(axis=2).sum() > least


@pytest.mark.parametrize("name", ["plot_idea.py", "plot_kernels.py", "plot_acceptance.py"])
def test_pictures_are_drawn(run_example, tmp_path, name):
    image = pytest.importorskip("matplotlib.image")
    path = tmp_path / "picture.png"
    assert str(path) in run_example(name, "--plot", path)
    pixels = (255 * image.imread(path)[..., :3]).round().astype(int)
    for color in ((0, 0x72, 0xB2), (0xD5, 0x5E, 0)):
        # Some hundreds of markers of each color, or a curve.
        assert (pixels == color).all(axis=2).sum() > 1000
