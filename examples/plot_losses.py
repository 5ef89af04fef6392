"""See what a loss does to the objective: two losses, inside the convex interval and beyond it.

Four points on a plane, two of them labeled, with the eigenvalues 4 and 1 (those of the paper's Figure 1). Inside the
interval both losses have one minimum. Beyond it the squared loss falls without end, and the pseudo-Huber loss has two
minima: which of them steps lead to depends on where they begin.

    python examples/plot_losses.py
    python examples/plot_losses.py --plot losses.png
"""

import argparse
from pathlib import Path

import numpy as np

from semikpca import ConvexKernelPCA
from semikpca.losses import PseudoHuber, Squared

POINTS = np.array([[1.0, 0.5], [1.0, -0.5], [-1.0, 0.5], [-1.0, -0.5]])
LABELS = np.array([1.0, 0.0, 0.0, -1.0])  # 0: unlabeled
LOSSES = (Squared(), PseudoHuber(0.75))
# The error weight in multiples of the bound, and whether there are labels.
CASES = ((0.6, True), (3.0, True), (3.0, False))
EXTENT = 3.2
INK, FAINT, MINIMUM, FALL = "#333333", "#B5B5B5", "#009E73", "#C23B22"


def main(arguments=None):
    """Print the regime and the minima of each case; draw the surfaces where a path is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", type=Path, metavar="PATH", help="write the picture there (needs matplotlib)")
    options = parser.parse_args(arguments)

    print("loss                     weight / bound  labels  regime     minima")
    for loss in LOSSES:
        model = ConvexKernelPCA(kernel="linear", loss=loss).fit(POINTS)
        for share, has_labels in CASES:
            weight = share * model.certificate(0).error_weight_max
            regime = model.regime(weight, 0).value
            found = minima(loss, weight, has_labels) if regime != "unbounded" else []
            places = "; ".join(f"({w[0]:.2f}, {w[1]:.2f})" for w in found) or "none"
            print(f"{loss!r:24} {share:14.1f}  {'yes' if has_labels else 'no':6}  {regime:9}  {places}")
    if options.plot:
        draw(options.plot)


def targets(has_labels):
    """Return the targets of a case."""
    return LABELS if has_labels else 0 * LABELS


def objective(loss, weight, has_labels, w):
    """Return ½⟨w, w⟩ − γ Σ ρ(y + ⟨w, x⟩) for weights w, shape (..., 2)."""
    errors = targets(has_labels) + w @ POINTS.T
    return 0.5 * (w**2).sum(axis=-1) - weight * loss.value(errors).sum(axis=-1)


def minima(loss, weight, has_labels):
    """Return the minima that fixed-point steps w ← γ Σ ρ′(y + ⟨w, x⟩) x find from many starts."""
    found = []
    for start in np.stack(np.meshgrid(*[np.linspace(-3, 3, 8)] * 2), axis=-1).reshape(-1, 2):
        w = start
        for _ in range(2_000):
            w = weight * loss.derivative(targets(has_labels) + POINTS @ w) @ POINTS
        if not any(np.allclose(w, other, atol=1e-6) for other in found):
            found.append(w + 0.0)
    return sorted(found, key=lambda w: -w[0])


def draw(path):
    """Draw a surface for each loss and case; write the picture to ``path``."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(8, 5.9), dpi=130)
    steps = np.linspace(-EXTENT, EXTENT, 31)
    for i, loss in enumerate(LOSSES):
        for j, (share, has_labels) in enumerate(CASES):
            ax = figure.add_axes((0.03 + 0.325 * j, 0.53 - 0.455 * i, 0.31, 0.40), projection="3d")
            draw_surface(ax, loss, share, has_labels, steps)
    figure.legend(
        handles=[
            Line2D([], [], color=MINIMUM, marker="o", linestyle="none", label="minimum"),
            Line2D([], [], color=FALL, linewidth=2, label="falls without end"),
        ],
        loc="lower center",
        ncols=2,
        frameon=False,
        fontsize=9,
    )
    figure.savefig(path)
    print(f"\nThe picture is in {path}.")


def draw_surface(ax, loss, share, has_labels, steps):
    """Draw one surface, its minima, or the ways in which it falls."""
    model = ConvexKernelPCA(kernel="linear", loss=loss).fit(POINTS)
    weight = share * model.certificate(0).error_weight_max
    w = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1)
    heights = objective(loss, weight, has_labels, w)
    ax.computed_zorder = False
    ax.plot_surface(w[..., 0], w[..., 1], heights, cmap="YlGnBu_r", alpha=0.6, linewidth=0.2, edgecolor="#FFFFFF80")
    if model.regime(weight, 0).value == "unbounded":
        way = np.column_stack([steps, 0 * steps])
        ax.plot(*way.T, objective(loss, weight, has_labels, way), color=FALL, linewidth=2, zorder=10)
    else:
        for place in minima(loss, weight, has_labels):
            height = objective(loss, weight, has_labels, place)
            if is_minimum(loss, weight, has_labels, place):
                ax.scatter(*place, height, color=MINIMUM, s=36, edgecolors="white", depthshade=False, zorder=10)
    ax.view_init(elev=38, azim=-62)
    ax.set(xticks=[], yticks=[], zticks=[], xlim=(-EXTENT, EXTENT), ylim=(-EXTENT, EXTENT))
    ax.set_xlabel("⟨v₁, w⟩", labelpad=-14, fontsize=8, color=INK)
    ax.set_ylabel("⟨v₂, w⟩", labelpad=-14, fontsize=8, color=INK)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis.line.set_color(FAINT)
    labels = "two labels" if has_labels else "no labels"
    ax.set_title(f"{loss!r}\n{share:g} of the bound, {labels}", fontsize=9, color=INK, y=0.98)


def is_minimum(loss, weight, has_labels, place):
    """Return whether the objective rises on all sides: starts on a ridge end on it, at a saddle."""
    angles = np.linspace(0, 2 * np.pi, 33)
    around = place + 1e-3 * np.column_stack([np.cos(angles), np.sin(angles)])
    return bool((objective(loss, weight, has_labels, around) > objective(loss, weight, has_labels, place)).all())


if __name__ == "__main__":
    main()
