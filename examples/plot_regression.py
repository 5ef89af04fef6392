"""Numbers for all rows from ten of them: where along a spiral each row lies.

Rows that are close to each other in the plane may be far apart along the spiral, and only the other rows show it. Run
it as it is for figures, or with a path for the picture::

    python examples/plot_regression.py --plot regression.png
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, LeaveOneOut

from semikpca import SemiKPCARegressorCV
from semikpca.labeling import prediction_intervals, suggest_labels

N_ROWS, N_LABELS, N_DRAWS = 500, 10, 12
ERROR_RATE = 0.2
INK, FAINT = "#333333", "#C8C8C8"


def spiral():
    """Return rows along a spiral, and how far along it each of them is, between 0 and 1."""
    rng = np.random.default_rng(4)
    angle = np.pi * np.sqrt(1 + 24 * rng.uniform(size=N_ROWS))  # rows are as dense outside as inside
    X = np.column_stack([angle * np.cos(angle), angle * np.sin(angle)]) + 0.3 * rng.standard_normal((N_ROWS, 2))
    position = np.square(angle)
    return X, (position - position.min()) / np.ptp(position)


def main(arguments=None):
    """Print how well numbers are filled in, over many draws, and how sure; draw the first where a path is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", type=Path, metavar="PATH", help="write the picture there (needs matplotlib)")
    options = parser.parse_args(arguments)

    X, truth = spiral()
    rng = np.random.default_rng(0)
    errors, covered, model = [], [], None
    for _ in range(N_DRAWS):
        drawn = rng.choice(N_ROWS, N_LABELS, replace=False)
        y = np.full(N_ROWS, np.nan)  # NaN means: no number
        y[drawn] = truth[drawn]
        # The kernels do not depend on the numbers, and are kept.
        model = SemiKPCARegressorCV().fit(X, y) if model is None else model.with_labels(y)
        by_ridge = kernel_ridge(X, drawn, y[drawn])
        intervals = prediction_intervals(model, ERROR_RATE)
        if options.plot and not errors:
            draw_picture(X, y, truth, model, by_ridge, intervals, options.plot)
        inside = (intervals.low <= truth[intervals.rows]) & (truth[intervals.rows] <= intervals.high)
        covered.append(np.mean(inside))
        rows = suggest_labels(model, N_LABELS)
        more = np.where(np.isin(np.arange(N_ROWS), rows), truth, y)
        answers = (
            np.full(N_ROWS, y[drawn].mean()),
            by_ridge,
            model.transduction_,
            model.with_labels(more).transduction_,
        )
        errors.append([error(values, truth, np.isnan(y)) for values in answers])

    print(f"{N_LABELS} numbers for {N_ROWS} rows, {N_DRAWS} draws; mean errors in standard deviations of the truth:")
    names = (
        "the mean of the numbers",
        "kernel ridge regression",
        "SemiKPCARegressorCV",
        "and ten suggested numbers more",
    )
    for name, value in zip(names, np.mean(errors, axis=0), strict=True):
        print(f"  {name:31} {value:.2f}")
    print(f"{np.mean(covered):.0%} of the numbers are in their intervals; {1 - ERROR_RATE:.0%} were asked for")


def kernel_ridge(X, drawn, numbers):
    """Return what kernel ridge regression makes of the numbers alone, with settings that these choose."""
    grid = {"alpha": np.geomspace(1e-3, 10, 5), "gamma": np.geomspace(1e-3, 1, 7)}
    ridge = GridSearchCV(KernelRidge(kernel="rbf"), grid, scoring="neg_mean_squared_error", cv=LeaveOneOut())
    return numbers.mean() + ridge.fit(X[drawn], numbers - numbers.mean()).predict(X)


def error(values, truth, others):
    """Return the root of the mean squared error on the other rows, in standard deviations of the truth."""
    return np.sqrt(np.mean(np.square(values - truth)[others])) / truth.std()


def draw_picture(X, y, truth, model, by_ridge, intervals, path):
    """Draw the given numbers, what two models make of them, and the intervals; write it to ``path``."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.5, 3.2), dpi=140, layout="constrained")
    given, filled, ridge, against = figure.subplots(1, 4, width_ratios=[1, 1, 1, 1.15])
    known = ~np.isnan(y)
    shade = {"cmap": "viridis", "vmin": 0, "vmax": 1}
    given.scatter(*X[~known].T, s=9, color=FAINT, linewidths=0)
    for axes, values, title in (
        (filled, model.transduction_, "SemiKPCARegressorCV"),
        (ridge, by_ridge, "Kernel ridge regression"),
    ):
        axes.scatter(*X.T, c=values, s=9, linewidths=0, **shade)
        axes.set_title(title)
    given.set_title("Ten rows with a number")
    for axes in (given, filled, ridge):
        axes.scatter(*X[known].T, c=y[known], s=55, edgecolors=INK, linewidths=1.2, **shade)
        axes.set(aspect="equal", xticks=[], yticks=[])
        axes.spines[:].set_color(FAINT)
    rows = intervals.rows[np.argsort(truth[intervals.rows])]
    low, high = (ends[np.argsort(truth[intervals.rows])] for ends in (intervals.low, intervals.high))
    against.fill_between(truth[rows], low, high, color="#56B4E9", alpha=0.35, linewidth=0, label="intervals of 80%")
    against.scatter(truth[rows], model.transduction_[rows], s=7, color="#0072B2", linewidths=0, label="filled in")
    against.plot([0, 1], [0, 1], color=INK, linewidth=1, label="the truth")
    against.set(xlabel="along the spiral, in truth", title="Filled in, against the truth")
    against.legend(frameon=False, fontsize=8, loc="upper left")
    against.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
    print(f"picture: {path}")


if __name__ == "__main__":
    main()
