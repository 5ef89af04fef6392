"""What the documentation site does to the pages of the repository, so that each is written once.

The pages are read in two places: in the repository and on the site. Here the differences are made good: pages from the
top of the repository come in, quotations of source get a title, and links to files that are no pages become their path.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
FROM_THE_TOP = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}

QUOTATION = re.compile(r"^```(\w+) (\S+\.py)$", re.MULTILINE)
ROLE = re.compile(r":(?:class|func|meth|mod|attr):(?=<code>)")
# What the reference puts after a name that has no description.
DANGLING_DASH = re.compile(r"\s+–\s*(?:<div class=\"doc-md-description\">\s*</div>\s*)?</li>")
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>[^)#\s]+)(?P<anchor>#[^)]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the list of decisions in the navigation with the notes that there are."""
    project = next(section["Project"] for section in config.nav or [] if "Project" in section)
    decisions = next(item["Decisions"] for item in project if "Decisions" in item)
    decisions += [f"decisions/{note.name}" for note in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Bring in the pages from the top of the repository, and the list of decisions."""
    for name, page in FROM_THE_TOP.items():
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "decisions.md", content=list_of_decisions()))
    return files


def list_of_decisions() -> str:
    """Return the page that lists all decisions by their titles."""
    notes = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    titles = [(note.name, note.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")) for note in notes]
    lines = [f"- [{title}](decisions/{name})" for name, title in titles]
    return "\n".join(["# Decisions", "", "Why names and defaults are what they are, one short note each.", "", *lines])


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Give quotations of source a title, and turn links to files that are no pages into their path."""
    markdown = QUOTATION.sub(r'```\1 title="\2"', markdown)
    folder = posixpath.dirname(page.file.src_uri)
    return LINK.sub(lambda link: _on_the_site(link, folder, files), markdown)


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Show what docstrings mark for Sphinx (``:class:`RBF```) as code, and end lines that have no description."""
    if not page.file.src_uri.startswith("reference/"):
        return html
    return DANGLING_DASH.sub("</li>", ROLE.sub("", html)).replace("``", "")


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:
    """Put words of types together again that were taken for a difference: array - like."""
    return output.replace("</span> - <span", "</span>-<span")


def _on_the_site(link: re.Match[str], folder: str, files: Files) -> str:
    """Return a link as the site has it."""
    text, target, anchor = link["text"], link["target"], link["anchor"] or ""
    if ":" in target:
        return link[0]
    place = posixpath.normpath(posixpath.join(folder, target))
    # Seen from docs/, the top of the repository is one folder up.
    name = place.removeprefix("../")
    if name == "decisions":
        return f"[{text}](decisions.md)"
    page = FROM_THE_TOP.get(name, place)
    if files.get_file_from_path(page):
        return f"[{text}]({posixpath.relpath(page, folder or '.')}{anchor})"
    # A page that should be there is left for the strict build to complain about.
    if not (ROOT / name).exists():
        return link[0]
    return f"`{name}`" if name.endswith(text.strip("`")) else f"{text} (`{name}`)"
