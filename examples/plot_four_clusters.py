"""Label four clusters from four labels, and see how sure one may be.

The synthetic data of the paper: four Gaussian clusters, two of each class. One row of each cluster has a label, the
other 396 get theirs from the model.

    python examples/plot_four_clusters.py
    python examples/plot_four_clusters.py --plot four_clusters.png
"""

import argparse
from pathlib import Path

import numpy as np

from semikpca import SemiKPCAClassifier
from semikpca.datasets import make_four_clusters
from semikpca.labeling import leave_one_label_out, suggest_labels

SEED = 0
N_SUGGESTED = 5


def main(arguments=None):
    """Print the answers; draw them where a path is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", type=Path, metavar="PATH", help="write the picture there (needs matplotlib)")
    options = parser.parse_args(arguments)

    X, truth, y = few_labels()
    model = SemiKPCAClassifier().fit(X, y)
    report(model, truth, y)
    if options.plot:
        draw(model, X, truth, y, options.plot)


def few_labels():
    """Return the rows, their true classes, and y with one label for each cluster."""
    X, truth = make_four_clusters(400, random_state=SEED)
    clusters = np.arange(400).reshape(4, 100)
    labeled = np.random.default_rng(SEED).permuted(clusters, axis=1)[:, 0]
    # Unlabeled rows are -1, as everywhere in scikit-learn. In the paper -1 is a class and 0 is unlabeled, and nothing
    # would complain about a mix-up: labels in that coding come in through semikpca.labels.from_signs.
    y = np.full(400, -1)
    y[labeled] = truth[labeled]
    return X, truth, y


def report(model, truth, y):
    """Print the accuracy, the certificate, whether each label is found again without it, and the rows to label next."""
    unlabeled = y == -1
    print(f"{np.sum(~unlabeled)} labels for {len(y)} rows.")
    print(f"Right on {accuracy(model, truth, unlabeled):.1%} of the {np.sum(unlabeled)} unlabeled rows.\n")
    print(model.certificate_, "\n")

    left_out = leave_one_label_out(model)
    found = np.sum(left_out.predictions == left_out.given)
    print(f"Each label left out in turn: {found} of {len(left_out.rows)} found again.")
    print("(One label to a cluster is too few for this number: left out, its cluster has no label at all.)\n")

    print("Rows to label next, and what the model makes of them now:")
    for row in suggest_labels(model, n=N_SUGGESTED):
        share = model.label_distributions_[row].max()
        print(f"  row {row:3d}   class {model.transduction_[row]}, probability {share:.2f}")


def accuracy(model, truth, rows):
    """Return the share of these rows whose label is right."""
    return np.mean(model.transduction_[rows] == truth[rows])


# -- picture ---------------------------------------------------------------------------------------------------

COLORS = ("#0072B2", "#D55E00")  # blue and vermilion, which color-blind readers can tell apart
PALE = ("#7DB5D8", "#EDAA7B")
MARKERS = ("o", "^")
X_LIMITS, Y_LIMITS = (-5.5, 5.5), (-6, 6)
INK, FAINT = "#333333", "#B5B5B5"


def draw(model, X, truth, y, path):
    """Draw the given labels, the answer with its decision function, and the convex interval; write them to ``path``."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("\nNo picture was drawn: matplotlib is not installed. Install it with: pip install matplotlib")
        return
    figure = Figure(figsize=(8, 5), dpi=200, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.06, hspace=0.04)
    panels = figure.subplot_mosaic([["given", "answer"], ["interval", "interval"]], height_ratios=[5, 1.1])
    draw_given_labels(panels["given"], X, y)
    draw_answer(panels["answer"], model, X, truth, y)
    draw_interval(panels["interval"], model.certificate_)
    figure.savefig(path)
    print(f"\nThe picture is in {path}.")


def draw_given_labels(ax, X, y):
    """Show all rows in gray and the labeled ones in the color of their class."""
    ax.scatter(*X[y == -1].T, s=9, color=FAINT, linewidths=0)
    draw_labeled_rows(ax, X, y)
    set_panel(ax, f"Given: {np.sum(y != -1)} labels, {np.sum(y == -1)} rows without")


def draw_answer(ax, model, X, truth, y):
    """Show the predicted classes over the decision function, its zero line, and a ring around every error."""
    from matplotlib.colors import LinearSegmentedColormap

    x_axis, y_axis = np.linspace(*X_LIMITS, 200), np.linspace(*Y_LIMITS, 200)
    grid = np.stack(np.meshgrid(x_axis, y_axis), axis=-1)
    decision = model.decision_function(grid.reshape(-1, 2)).reshape(200, 200)
    top = np.abs(decision).max()
    shades = LinearSegmentedColormap.from_list("classes", [PALE[0], "#FFFFFF", PALE[1]])
    # Bands of one shade each: as clear as a smooth gradient, and the file stays small.
    ax.contourf(x_axis, y_axis, decision, levels=np.linspace(-top, top, 22), cmap=shades)
    ax.contour(x_axis, y_axis, decision, levels=[0], colors=INK, linewidths=1.2)
    unlabeled = y == -1
    for label, color, marker in zip(model.classes_, COLORS, MARKERS, strict=True):
        ax.scatter(*X[unlabeled & (model.transduction_ == label)].T, s=11, color=color, marker=marker, linewidths=0)
    wrong = unlabeled & (model.transduction_ != truth)
    ax.scatter(*X[wrong].T, s=42, facecolors="none", edgecolors=INK, linewidths=0.9)
    draw_labeled_rows(ax, X, y)
    set_panel(ax, f"Answer: {accuracy(model, truth, unlabeled):.1%} right, {np.sum(wrong)} errors ringed")


def draw_labeled_rows(ax, X, y):
    for label, (color, marker) in enumerate(zip(COLORS, MARKERS, strict=True)):
        ax.scatter(*X[y == label].T, s=130, color=color, marker=marker, edgecolors="white", linewidths=1.4, zorder=3)


def draw_interval(ax, certificate):
    """Show where the problem is convex, on a logarithmic scale, and where the fit stands."""
    lower, upper, weight = 1 / certificate.eigenvalues[0], certificate.error_weight_max, certificate.error_weight
    start, end = lower / 2.2, upper * 2.2
    for left, right, color, meaning in (
        (start, lower, "#CFE3DA", "convex as it is"),
        (lower, upper, "#7FBFA3", "convex, one component removed"),
        (upper, end, "#EBEBEB", "no solution"),
    ):
        ax.barh(0.36, right - left, left=left, height=0.3, align="edge", linewidth=0, color=color)
        ax.text(np.sqrt(left * right), 0.51, meaning, ha="center", va="center_baseline", color=INK)
    for end_of_interval, name in ((lower, "1/λ₁"), (upper, "1/λ₂")):
        ax.plot([end_of_interval] * 2, [0.28, 0.74], color=INK, linewidth=1.2)
        ax.text(end_of_interval, 0.04, f"{name} = {end_of_interval:.2g}", ha="center", color=INK)
    ax.plot(weight, 0.7, "v", color=INK, markersize=7, markeredgewidth=0)
    share = f"{certificate.relative_weight:.0%} of the bound"
    ax.text(weight, 0.84, f"error weight {weight:.2g}, {share}", ha="center", color=INK)
    ax.set(xscale="log", xlim=(start, end), ylim=(0, 1))
    ax.set_axis_off()


def set_panel(ax, title):
    ax.set_title(title, fontsize=10.5, color=INK, pad=6)
    ax.set(xticks=[], yticks=[], xlim=X_LIMITS, ylim=Y_LIMITS)
    for spine in ax.spines.values():
        spine.set_color(FAINT)


if __name__ == "__main__":
    main()
