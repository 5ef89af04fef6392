"""The kernel decides: a few shapes of data, three kernels, and the classifier that chooses by itself.

Four Gaussian clusters, two moons, and two long parallel clouds, the last with their columns scaled as well; 300 rows or
more and a few labels each. One draw of labels can flatter any of them; ``--draws`` repeats it with random labels.

    python examples/plot_kernels.py
    python examples/plot_kernels.py --plot kernels.png
    python examples/plot_kernels.py --draws 20
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler

from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.datasets import make_four_clusters

MODELS = {
    "rbf, the default": SemiKPCAClassifier(),
    "graph": SemiKPCAClassifier("graph"),
    "linear": SemiKPCAClassifier("linear", n_components_removed=0),
    "SemiKPCAClassifierCV": SemiKPCAClassifierCV(),
}
COLORS, MARKERS = ("#0072B2", "#D55E00"), ("o", "^")
INK, FAINT = "#333333", "#B5B5B5"


def main(arguments=None):
    """Print the accuracy of every model on every shape; draw the labels where a path is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", type=Path, metavar="PATH", help="write the picture there (needs matplotlib)")
    parser.add_argument("--draws", type=int, metavar="N", help="mean and standard deviation over N draws of labels")
    options = parser.parse_args(arguments)

    found = {}
    print(" " * 15 + "".join(f"{name:>22}" for name in MODELS))
    for shape, (X, truth, y) in shapes().items():
        if options.draws:
            print(f"{shape:15}" + "".join(f"{cell:>22}" for cell in over_draws(X, truth, y, options.draws)))
            continue
        found[shape] = answers(X, y)
        print(f"{shape:15}" + "".join(f"{np.mean((labels == truth)[y == -1]):22.1%}" for labels in found[shape]))
    if options.plot and found:
        draw(found, options.plot)


def answers(X, y):
    """Return the labels that each model gives to all rows."""
    return [model.fit(X, y).transduction_ for model in MODELS.values()]


def over_draws(X, truth, y, n_draws):
    """Return the accuracy of each model over draws with as many labels of each class as y has."""
    right = []
    for seed in range(n_draws):
        generator = np.random.default_rng(seed)
        drawn = [generator.choice(np.flatnonzero(truth == c), np.sum(y == c), replace=False) for c in (0, 1)]
        again = marked(truth, np.concatenate(drawn))
        right.append([np.mean((labels == truth)[again == -1]) for labels in answers(X, again)])
    return [f"{mean:.1%} ± {spread:.1%}" for mean, spread in zip(np.mean(right, 0), np.std(right, 0), strict=True)]


def shapes():
    """Return rows, true classes and y with a few labels, for each shape of data."""
    clusters, classes = make_four_clusters(400, random_state=0)
    moons, sides = make_moons(300, noise=0.1, random_state=0)
    generator = np.random.default_rng(0)
    clouds = np.repeat([0, 1], 150)
    long = np.column_stack([4 * generator.standard_normal(300), generator.standard_normal(300) + 4.5 * clouds])
    long -= long.mean(axis=0)
    return {
        "four clusters": (clusters, classes, marked(classes, [82, 194, 289, 354])),
        "two moons": (moons, sides, marked(sides, few_of_each(sides, 3))),
        "long clouds": (long, clouds, marked(clouds, few_of_each(clouds, 3))),
        "clouds, scaled": (StandardScaler().fit_transform(long), clouds, marked(clouds, few_of_each(clouds, 3))),
    }


def few_of_each(truth, count):
    """Return the first rows of each class: in random order here, whatever the shape."""
    return np.concatenate([np.flatnonzero(truth == label)[:count] for label in (0, 1)])


def marked(truth, rows):
    """Return y with labels at these rows and -1 elsewhere."""
    y = np.full(len(truth), -1)
    y[rows] = truth[rows]
    return y


def draw(found, path):
    """Draw what every model makes of every shape, errors in rings; write it to ``path``."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 8.6), dpi=140, layout="constrained")
    panels = figure.subplots(len(found), len(MODELS))
    for line, (shape, (X, truth, y)) in zip(panels, shapes().items(), strict=True):
        for ax, name, labels in zip(line, MODELS, found[shape], strict=True):
            for label, (color, marker) in enumerate(zip(COLORS, MARKERS, strict=True)):
                ax.scatter(*X[(labels == label) & (y == -1)].T, s=7, color=color, marker=marker, linewidths=0)
                given = X[y == label].T
                ax.scatter(*given, s=80, color=color, marker=marker, edgecolors=INK, linewidths=1.1, zorder=3)
            wrong = (labels != truth) & (y == -1)
            ax.scatter(*X[wrong].T, s=26, facecolors="none", edgecolors=INK, linewidths=0.6)
            ax.set_title(f"{name}: {np.mean((labels == truth)[y == -1]):.0%}", fontsize=8.5, color=INK)
            ax.set(xticks=[], yticks=[])
            for spine in ax.spines.values():
                spine.set_color(FAINT)
    figure.savefig(path)
    print(f"\nThe picture is in {path}.")


if __name__ == "__main__":
    main()
