"""How the model files of format 1 beside this script were made; they are kept as they are and never made again.

Run once with semikpca 0.1.0 as it was before format 2, skops 0.16.0, skrub 0.11.0 and scikit-learn 1.9.1:

    python tests/workflow/models/make_format_1.py

It writes visits.csv (the table), and for each model its file and a JSON file with the labels and their probabilities
that this version gave for the rows of the table when it had loaded the file again.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from semikpca.tables import ColumnRoles, read_table
from semikpca.workflow import LabelingOptions, label_table, load_model, save_model

HERE = Path(__file__).parent
N_ROWS, N_LABELS = 60, 18
WORDS = {
    "repair": ("screen broken", "battery dead", "button stuck", "hinge loose", "screen dark"),
    "return": ("wrong size", "changed my mind", "wrong color", "too late", "not needed"),
    "praise": ("works well", "very happy", "great service", "thank you", "love it"),
}
# The default and named kernels: together they bring every type into files that format 1 could hold.
MODELS = {
    "default-kernels": LabelingOptions(),
    "named-kernels": LabelingOptions(kernel="rbf,cosine,graph,poly"),
    "more-kernels": LabelingOptions(kernel="laplacian,linear", n_components_removed=2, error_weight=0.9),
}


def visits():
    """Return a table of visits to a shop: numbers, a category, dates, text, empty cells, and a few labels."""
    generator = np.random.default_rng(19)
    kinds = list(WORDS)
    code = generator.permutation(np.arange(N_ROWS) % 3)
    day = pd.Timestamp("2026-03-02") + pd.to_timedelta(generator.integers(0, 200, N_ROWS) + 40 * code, unit="D")
    frame = pd.DataFrame(
        {
            "visit": [f"V{number:02d}" for number in range(N_ROWS)],
            "price": (20 + 30 * code + generator.normal(0, 9, N_ROWS)).round(2),
            "minutes": generator.poisson(5 + 4 * code),
            "shop": np.where(generator.uniform(size=N_ROWS) < 0.7, np.array(["north", "south", "web"])[code], "web"),
            "day": day.strftime("%Y-%m-%d"),
            "words": [" ".join(generator.choice(WORDS[kinds[k]], 2)) + f" {generator.integers(100)}" for k in code],
            "kind": "",
        }
    ).astype(object)
    frame.loc[::13, "price"] = ""
    labeled = np.concatenate([np.flatnonzero(code == k)[: N_LABELS // 3] for k in range(3)])
    frame.loc[labeled, "kind"] = np.array(kinds, dtype=object)[code[labeled]]
    return frame


def main():
    """Write the table, the models and their answers."""
    visits().to_csv(HERE / "visits.csv", index=False)
    table = read_table(HERE / "visits.csv")
    roles = ColumnRoles("kind", id="visit", text=("words",))
    for name, options in MODELS.items():
        path = HERE / f"{name}.semikpca"
        save_model(path, label_table(table, roles, options))
        loaded = load_model(path)
        X = loaded.vectorizer.transform(table.features[list(loaded.feature_names)])
        chances = loaded.model.predict_proba(X).max(axis=1)
        answers = {"labels": loaded.model.predict(X).tolist(), "confidences": chances.tolist()}
        (HERE / f"{name}.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
