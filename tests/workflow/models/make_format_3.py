"""How the model file of format 3 beside this script was made; it is kept as it is and never made again.

Run once with semikpca 0.1.0 as it was before format 4, skops 0.16.0, skrub 0.11.0 and scikit-learn 1.9.1:

    python tests/workflow/models/make_format_3.py
"""

import json
from pathlib import Path

from semikpca.tables import ColumnRoles, read_table
from semikpca.workflow import label_table, load_model, save_model

HERE = Path(__file__).parent


def main():
    """Write the model, with its views, of the table that the files of format 1 were made of, and its answers."""
    table = read_table(HERE / "visits.csv")
    path = HERE / "format-3.semikpca"
    # Without a text encoder that would have to be installed where the file is read.
    save_model(path, label_table(table, ColumnRoles("kind", id="visit", text=("words",), text_encoder="ngrams")))
    loaded = load_model(path)
    X = loaded.vectorizer.transform(table.features[list(loaded.feature_names)])
    chances = loaded.model.predict_proba(X).max(axis=1)
    answers = {"labels": loaded.model.predict(X).tolist(), "confidences": chances.tolist()}
    path.with_suffix(".json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
