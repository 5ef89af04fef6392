"""What static vectors know of languages other than English: accuracy beside letters, on short texts of our own making.

The texts are in ``made_up_texts.json``. A text is one or two of twelve sentences on its topic and one that says
nothing, in any order. With one, no text leads from one sentence of a topic to another, so where few have a label it
takes the meaning of the others to find their topic; with two, it is enough to know a sentence again. Each figure is
the mean over draws of labels of the share of unlabeled texts that ``SemiKPCAClassifierCV`` gets right.

    python benchmarks/bench_languages.py --out benchmarks/results/languages.csv
"""

import argparse
import json
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from results_csv import circumstances, command_line, write_csv
from semikpca import SemiKPCAClassifierCV
from semikpca.tables import TableToNumbers, find_encoder


def _georgian(letter: str) -> str:
    return chr(ord("ა") + ord(letter.lower()) - ord("а")) if "а" <= letter.lower() <= "я" else letter


SENTENCES = json.loads((Path(__file__).parent / "made_up_texts.json").read_text(encoding="utf-8"))
# Letters of which the tokenizer knows next to nothing, in the same words: what counts is the script alone.
SENTENCES["Russian in Georgian letters"] = {
    kind: ["".join(_georgian(letter) for letter in text) for text in texts]
    for kind, texts in SENTENCES["Russian"].items()
}
TOPICS = ("cooking", "sport", "money", "travel")
ENCODERS = ("static", "ngrams")


def made_up_texts(language: str, n_sentences: int, n_texts: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Return different texts in a language, and the topic of each."""
    generator = np.random.default_rng(seed)
    found: dict[str, str] = {}
    while len(found) < n_texts:
        topic = TOPICS[len(found) % len(TOPICS)]
        own = generator.choice(SENTENCES[language][topic], n_sentences, replace=False)
        parts = [*own, generator.choice(SENTENCES[language]["anything"])]
        found.setdefault(" ".join(generator.permutation(parts)), topic)
    return list(found), np.array(list(found.values()), dtype=object)


def accuracy(X: np.ndarray, topics: np.ndarray, n_labels: int, seed: int) -> float:
    """Return the share of unlabeled texts that get their topic, from a draw of as many labels of each."""
    generator = np.random.default_rng(seed)
    labels = np.full(len(topics), None, dtype=object)
    for topic in TOPICS:
        rows = generator.choice(np.flatnonzero(topics == topic), n_labels, replace=False)
        labels[rows] = topic
    unlabeled = np.array([label is None for label in labels])
    found = SemiKPCAClassifierCV(random_state=0).fit(X, labels).transduction_
    return float(np.mean(found[unlabeled] == topics[unlabeled]))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--languages", nargs="+", default=list(SENTENCES), choices=list(SENTENCES))
    parser.add_argument("--sentences", type=int, nargs="+", default=[1, 2], help="On the topic of a text.")
    parser.add_argument("--texts", type=int, default=300)
    parser.add_argument("--labels", type=int, nargs="+", default=[2, 5, 10], help="Of each topic.")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    records = []
    for language, n_sentences in product(options.languages, options.sentences):
        known = find_encoder("static").knowledge([text for kind in SENTENCES[language].values() for text in kind])
        figures: dict[tuple[str, int], list[float]] = {}
        for draw in range(options.draws):
            texts, topics = made_up_texts(language, n_sentences, options.texts, draw)
            frame = pd.DataFrame({"text": texts})
            for encoder in ENCODERS:
                X = TableToNumbers(text=("text",), text_encoder=encoder).fit_transform(frame)
                for n_labels in options.labels:
                    figures.setdefault((encoder, n_labels), []).append(accuracy(X, topics, n_labels, draw))
        for n_labels in options.labels:
            means = {encoder: np.mean(figures[encoder, n_labels]) for encoder in ENCODERS}
            ahead = np.subtract(figures["static", n_labels], figures["ngrams", n_labels])
            error = ahead.std(ddof=1) / np.sqrt(len(ahead)) if len(ahead) > 1 else float("nan")
            records.append(
                {
                    "language": language,
                    "known": known,
                    "sentences": n_sentences,
                    "texts": options.texts,
                    "labels_each": n_labels,
                    "draws": options.draws,
                    **{encoder: f"{mean:.4f}" for encoder, mean in means.items()},
                    "ahead": f"{ahead.mean():.4f}",
                    "standard_error": f"{error:.4f}",
                    **circumstances(command),
                }
            )
            shown = ", ".join(f"{encoder} {mean:.1%}" for encoder, mean in means.items())
            print(
                f"{language:<28}{n_sentences} on the topic, {n_labels:>2} labels each: {shown} (known: {known})",
                flush=True,
            )
    if options.out is not None:
        write_csv(records, options.out)


if __name__ == "__main__":
    main()
