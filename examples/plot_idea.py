"""See what the method does: the components of the kernel, and the answer between the ends of the interval.

Above, the first three components of the kernel matrix of the four clusters as functions on the plane. The first one is
nearly constant and tells nothing about classes; it is removed. Below, the answer from four labels at three error
weights: close to 0 each label speaks for its surroundings, close to the bound only component 2 is left.

    python examples/plot_idea.py
    python examples/plot_idea.py --plot idea.png
"""

import argparse
from pathlib import Path

import numpy as np

from semikpca import ConvexKernelPCA, SemiKPCAClassifier
from semikpca.datasets import make_four_clusters

LABELED = [82, 194, 289, 354]  # one row of each cluster, those of plot_four_clusters.py
WEIGHTS = (0.01, "middle", 0.9999)
COLORS, PALE, MARKERS = ("#0072B2", "#D55E00"), ("#7DB5D8", "#EDAA7B"), ("o", "^")
INK, FAINT = "#333333", "#B5B5B5"
X_LIMITS, Y_LIMITS = (-5.5, 5.5), (-6, 6)


def main(arguments=None):
    """Print how the answers stand to the components; draw them where a path is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", type=Path, metavar="PATH", help="write the picture there (needs matplotlib)")
    options = parser.parse_args(arguments)

    X, truth = make_four_clusters(400, random_state=0)
    y = np.full(400, -1)
    y[LABELED] = truth[LABELED]
    components = ConvexKernelPCA(n_components=3).fit(X)
    models = [SemiKPCAClassifier(error_weight=weight).fit(X, y) for weight in WEIGHTS]

    print("Eigenvalues:", ", ".join(f"{value:.1f}" for value in components.eigenvalues_), "\n")
    print("share of the bound   right   of the answer along component 2")
    for model in models:
        share = model.certificate_.relative_weight
        print(f"{share:18.2%}   {accuracy(model, truth, y):5.1%}   {along(model, components, 1):5.1%}")
    if options.plot:
        draw(components, models, X, truth, y, options.plot)


def accuracy(model, truth, y):
    """Return the share of unlabeled rows whose label is right."""
    return np.mean((model.transduction_ == truth)[y == -1])


def along(model, components, number):
    """Return how much of the decision is a multiple of one component: the square of a cosine."""
    direction = components.eigenvectors_[:, number]
    return (direction @ model.decision_) ** 2 / (model.decision_ @ model.decision_)


def draw(components, models, X, truth, y, path):
    """Draw three components and three answers; write them to ``path``."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5.6), dpi=160, layout="constrained")
    panels = figure.subplots(2, 3)
    x_axis, y_axis = np.linspace(*X_LIMITS, 120), np.linspace(*Y_LIMITS, 120)
    grid = np.stack(np.meshgrid(x_axis, y_axis), axis=-1).reshape(-1, 2)
    projections = components.transform(grid)
    for number, ax in enumerate(panels[0]):
        draw_field(ax, x_axis, y_axis, projections[:, number])
        ax.scatter(*X.T, s=3, color=INK, alpha=0.35, linewidths=0)
        removed = ", removed" if number == 0 else ""
        set_panel(ax, f"Component {number + 1}{removed}: λ = {components.eigenvalues_[number]:.0f}")
    for model, ax in zip(models, panels[1], strict=True):
        draw_field(ax, x_axis, y_axis, model.decision_function(grid))
        for label, (color, marker) in enumerate(zip(COLORS, MARKERS, strict=True)):
            called = (model.transduction_ == label) & (y == -1)
            ax.scatter(*X[called].T, s=5, color=color, marker=marker, linewidths=0)
            ax.scatter(*X[y == label].T, s=90, color=color, marker=marker, edgecolors="white", linewidths=1.2, zorder=3)
        share = model.certificate_.relative_weight
        set_panel(ax, f"Weight {share:.4g} of the bound: {accuracy(model, truth, y):.1%} right")
    figure.savefig(path)
    print(f"\nThe picture is in {path}.")


def draw_field(ax, x_axis, y_axis, values):
    """Show a function on the plane in bands, blue below zero and orange above, with its zero line."""
    from matplotlib.colors import LinearSegmentedColormap

    values = values.reshape(len(y_axis), len(x_axis))
    top = np.abs(values).max()
    shades = LinearSegmentedColormap.from_list("classes", [PALE[0], "#FFFFFF", PALE[1]])
    ax.contourf(x_axis, y_axis, values, levels=np.linspace(-top, top, 22), cmap=shades)
    if values.min() < 0 < values.max():
        ax.contour(x_axis, y_axis, values, levels=[0], colors=INK, linewidths=1.0)


def set_panel(ax, title):
    """Give a panel its title, and take its ticks away."""
    ax.set_title(title, fontsize=9, color=INK)
    ax.set(xticks=[], yticks=[], xlim=X_LIMITS, ylim=Y_LIMITS)
    for spine in ax.spines.values():
        spine.set_color(FAINT)


if __name__ == "__main__":
    main()
