"""Find wrong labels among a few, correct them, and ask which rows to label next.

178 wines of three cultivars, 40 of them labeled, four of these labels wrong. Nobody tells the model which.

    python examples/audit_and_suggest.py
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from semikpca import SemiKPCAClassifier
from semikpca.labeling import audit_labels, expected_change, leave_one_label_out, suggest_labels

CULTIVARS = np.array(["A", "B", "C"], dtype=object)
SEED = 0
N_LABELED, N_WRONG, N_CHECKED, N_SUGGESTED = 40, 4, 6, 5


def main():
    """Print the audit, what correcting it brings, and the rows to label next."""
    wine = load_wine()
    X = StandardScaler().fit_transform(wine.data)
    truth = CULTIVARS[wine.target]
    y, wrong = labels_with_mistakes(wine.target, np.random.default_rng(SEED))
    unlabeled = np.array([label is None for label in y])

    model = SemiKPCAClassifier().fit(X, y)
    print(f"{len(y)} wines, {N_LABELED} labels, {N_WRONG} of them wrong.")
    print(f"Before: {summary(model, truth, unlabeled)}\n")

    # Each label is judged by all others: the answer is linear in the labels, so leaving one out needs no refit.
    audit = audit_labels(model)
    print("The labels that the others speak against most:")
    print("   row  given  others say  suspicion")
    for row, given, suggested, suspicion in zip(
        audit.rows[:N_CHECKED], audit.given, audit.suggested, audit.suspicion, strict=False
    ):
        remark = "  <- wrong" if row in wrong else ""
        print(f"  {row:4d}  {given:<5}  {suggested:<10}  {suspicion:9.2f}{remark}")
    caught = np.isin(wrong, audit.rows[:N_CHECKED]).sum()
    print(f"Looking at {N_CHECKED} of {N_LABELED} labels finds {caught} of the {N_WRONG} mistakes.\n")

    checked = audit.rows[:N_CHECKED]
    model.add_labels(checked, truth[checked])  # correct them in place; equal to a refit
    print(f"Corrected: {summary(model, truth, unlabeled)}\n")

    rows = suggest_labels(model, n=N_SUGGESTED)
    print("Rows to label next, the most telling first:")
    print("   row  now     sure  predictions expected to move")
    for row, change in zip(rows, expected_change(model, rows), strict=True):
        sure = model.label_distributions_[row].max()
        print(f"  {row:4d}  {model.transduction_[row]:<5}  {sure:5.2f}  {change:28.1f}")


def labels_with_mistakes(classes, generator):
    """Return y with a few labels (None elsewhere), and the rows whose label is wrong."""
    labeled = generator.choice(len(classes), N_LABELED, replace=False)
    wrong = generator.choice(labeled, N_WRONG, replace=False)
    noted = classes.copy()
    noted[wrong] = (classes[wrong] + generator.integers(1, len(CULTIVARS), N_WRONG)) % len(CULTIVARS)
    y = np.full(len(classes), None)
    y[labeled] = CULTIVARS[noted[labeled]]
    return y, wrong


def summary(model, truth, unlabeled):
    """Return accuracy where there was no label, and how many given labels the others find again."""
    right = np.mean(model.transduction_[unlabeled] == truth[unlabeled])
    found = leave_one_label_out(model).accuracy
    return f"{right:.1%} of the unlabeled wines right, {found:.1%} of the given labels found again when left out."


if __name__ == "__main__":
    main()
