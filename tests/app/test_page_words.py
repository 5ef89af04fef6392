"""Messages on the page: every one of tables and workflow that names an option is said there by what can be done."""

import ast
import re
from pathlib import Path

import pytest

import semikpca
from semikpca.app import _page_words
from semikpca.app._page_words import in_page_words
from semikpca.tables import ColumnRoles

SOURCE = Path(semikpca.__file__).parent
OPTION = re.compile(r"--[a-z]")
# What never reaches the page: clusters, tables in pieces, model files, labels of the page for the command line, and
# options that are read before it is up.
ELSEWHERE = {
    "workflow/_cluster_table.py",
    "workflow/_cluster_label.py",
    "workflow/_model_file.py",
    "workflow/_label_model.py",
    "workflow/_page_tables.py",
    "workflow/_options.py",
    "tables/_pieces.py",
}
OF_MODEL_FILES = "train it again with semikpca label --save"


def rendered(node, option):
    """Return a message as it may look: names for what is filled in, options where options are."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    text = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            text += part.value
            continue
        named = part.value.id if isinstance(part.value, ast.Name) else ""
        if named == "AS_TYPED":
            text += "--keep-labels-as-typed"
        elif option and named in ("option", "other"):
            text += option
        else:
            text += "'a name'" if part.conversion == ord("r") else "aname"
    return text


def messages():
    roles = ColumnRoles("a", "b", ("c",), ("d",), keep=("e",), category=("f",))
    options = [option for option, _ in roles.named()]
    for path in sorted([*(SOURCE / "tables").glob("*.py"), *(SOURCE / "workflow").glob("*.py")]):
        name = path.relative_to(SOURCE).as_posix()
        if name in ELSEWHERE:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documented = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
        }
        inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)} - {
            id(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.JoinedStr | ast.Constant) or id(node) in documented | inside:
                continue
            for option in options if name == "tables/_table.py" else [""]:
                text = rendered(node, option)
                is_message = " " in text and OF_MODEL_FILES not in text
                if is_message and OPTION.search(text):
                    yield pytest.param(text, id=f"{name}:{node.lineno}:{option}")


MESSAGES = list(messages())


def test_messages_were_found():
    assert len(MESSAGES) > 20


@pytest.mark.parametrize("message", MESSAGES)
def test_no_message_names_an_option_on_the_page(message):
    said = in_page_words(message)
    assert not OPTION.search(said), said
    assert "  " not in said
    assert not message.startswith("--") or said[0].isupper()


def test_every_rule_has_a_message_that_it_is_for():
    texts = [param.values[0] for param in MESSAGES]
    idle = []
    for pattern, words in _page_words._COMPILED:
        changed = [pattern.sub(words, text) for text in texts]
        if changed == texts:
            idle.append(pattern.pattern)
        texts = changed
    assert not idle


def test_what_has_no_option_stays_as_it_is():
    text = "rows.csv, line 3 -- the third one – has 2 cells where the header has 3."
    assert in_page_words(text) == text
