"""Ten labels for 1,797 handwritten digits, and nothing to choose.

    python examples/few_labels.py

``SemiKPCAClassifierCV`` tries linear, local and global kernels and neighbor graphs, weighs each by its left-out labels
and by how well its labeling agrees with neighborhoods, and blends them. With one label of each digit no label can be
left out, and neighborhoods alone tell that the graphs are the better choice here.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading

from semikpca import SemiKPCAClassifierCV
from semikpca.labeling import leave_one_label_out, suggest_labels

LABELS_PER_DIGIT = (1, 5)


def main() -> None:
    """Label the digits from a few, and say what was used."""
    X, truth = load_digits(return_X_y=True)
    X = X / 16
    generator = np.random.default_rng(0)
    order = generator.permutation(len(truth))
    for count in LABELS_PER_DIGIT:
        labeled = np.concatenate([order[truth[order] == digit][:count] for digit in range(10)])
        y = np.full(len(truth), -1)
        y[labeled] = truth[labeled]
        unlabeled = y == -1
        model = SemiKPCAClassifierCV().fit(X, y)
        spreading = LabelSpreading().fit(X, y)
        print(f"{len(labeled)} labels")
        print(f"  right: {np.mean(model.transduction_[unlabeled] == truth[unlabeled]):.1%}", end="")
        print(f" (LabelSpreading: {np.mean(spreading.transduction_[unlabeled] == truth[unlabeled]):.1%})")
        if count > 1:
            print(f"  left-out labels found again: {leave_one_label_out(model).accuracy:.0%}")
        for kernel in sorted(set(model.results_["kernel"]), key=repr):
            weight = model.weights_[model.results_["kernel"] == kernel].sum()
            if weight > 0.01:
                print(f"  {weight:4.0%}  {kernel}")
    print(f"label next: {suggest_labels(model, n=3).tolist()}")


if __name__ == "__main__":
    main()
