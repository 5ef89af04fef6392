"""Which labels can be accepted unseen: five overlapping groups, 150 labels drawn at random, and what is promised.

Run it as it is for figures, or with a path for the picture::

    python examples/plot_acceptance.py --plot accepted.png
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

from semikpca import SemiKPCAClassifierCV
from semikpca.labeling import Acceptance, prediction_sets

N_ROWS, N_LABELS = 2_000, 150
RATES = np.round(np.arange(0.01, 0.201, 0.005), 3)
CHOSEN = 0.05
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")
RED, INK, FAINT = "#D55E00", "#333333", "#B5B5B5"


def main(arguments=None):
    """Print what can be accepted at a few error rates, and how much of it is wrong; draw it where a path is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", type=Path, metavar="PATH", help="write the picture there (needs matplotlib)")
    options = parser.parse_args(arguments)

    X, truth = make_blobs(N_ROWS, centers=5, cluster_std=1.6, random_state=3)
    y = np.full(len(X), -1)
    drawn = np.random.default_rng(0).choice(len(X), N_LABELS, replace=False)
    y[drawn] = truth[drawn]
    model = SemiKPCAClassifierCV().fit(X, y)
    known = Acceptance.of(model)
    print(f"{np.mean((model.transduction_ == truth)[y == -1]):.1%} of {len(known.rows):,} labels right")
    print("may be wrong   accepted   wrong, in truth")
    for rate in (0.02, 0.05, 0.1, 0.15):
        found = known.accepted(rate)
        print(f"{rate:12.0%} {len(found.rows):10,} {wrong_share(found, truth):17.1%}")
    for rate in (0.05, 0.1, 0.2):
        sets = prediction_sets(model, rate)
        covered = sets.sets[np.arange(len(sets.rows)), truth[sets.rows]].mean()
        print(
            f"sets at {rate:3.0%}: {sets.sets.sum(axis=1).mean():.2f} classes a row, {covered:.1%} with the right one"
        )
    if options.plot:
        draw(X, y, truth, known, options.plot)


def wrong_share(found, truth):
    """Return the share of accepted labels that are wrong; NaN where none is accepted."""
    return np.mean(found.labels != truth[found.rows]) if len(found.rows) else np.nan


def draw(X, y, truth, known, path):
    """Draw the rows that are accepted, the labels that were held out, and the accepted shares; write it to ``path``."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.7), dpi=140, layout="constrained")
    plane, held, shares = figure.subplots(1, 3)
    found = known.accepted(CHOSEN)
    review = np.setdiff1d(known.rows, found.rows)
    for label, color in enumerate(COLORS):
        plane.scatter(*X[found.rows[found.labels == label]].T, s=5, color=color, linewidths=0)
        plane.scatter(*X[y == label].T, s=26, color=color, edgecolors=INK, linewidths=0.8, zorder=3)
    plane.scatter(*X[review].T, s=7, color=FAINT, marker="x", linewidths=0.7)
    plane.set(title=f"{len(found.rows):,} accepted (dots), {len(review)} to review (crosses)", xticks=[], yticks=[])

    right = known.found.is_right
    order = np.argsort(-known.found.confidence)
    places, confidence, right = np.arange(1, len(order) + 1), known.found.confidence[order], right[order]
    held.scatter(places[right], confidence[right], s=12, color=COLORS[0], label="found again")
    held.scatter(places[~right], confidence[~right], s=36, color=RED, marker="x", label="not found")
    held.axhline(found.threshold, color=INK, linewidth=1, linestyle="--")
    held.set(title=f"{len(order)} labels, each by a model without it")
    held.set(xlabel="labels, surest first", ylabel="confidence")
    held.legend(frameon=False, fontsize=8, loc="lower left")

    accepted = known.shares(RATES)
    wrong = np.array([wrong_share(known.accepted(rate), truth) for rate in RATES])
    shares.plot(100 * RATES, 100 * accepted, color=COLORS[0], label="rows that can be accepted")
    shares.plot(100 * RATES, 100 * wrong, color=RED, label="wrong among them, in truth")
    shares.plot(100 * RATES, 100 * RATES, color=INK, linestyle=":", linewidth=1, label="what was promised")
    shares.set(title="More labels for more errors", xlabel="accepted labels that may be wrong, %", ylabel="%")
    shares.legend(frameon=False, fontsize=8, loc="center right")
    for ax in (plane, held, shares):
        ax.title.set_fontsize(10)
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
    print(f"\nThe picture is in {path}.")


if __name__ == "__main__":
    main()
