"""The report on the paper as plain data: everything that the page shows, before any of it is drawn."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, TypeAlias

from semikpca import experiments
from semikpca._words import counted
from semikpca.convexity import ConvexityCertificate
from semikpca.datasets import PAPER_DATASETS
from semikpca.experiments import MODEL_NAMES, MODELS, CellRecord, PaperSpec

Block: TypeAlias = dict[str, dict[str, Any]]
"""The entries of one data set, label count and choice of the error weight, by model."""

_RANKED = ("semi_kpca_1", "semi_lssvm", "subs_lssvm")  # the three models that the paper prints, in its order
_SHOWN = (*_RANKED, *(model for model in MODELS if model not in _RANKED))
_CHOICES = {"best": "Best γ", "fixed": "Fixed γ"}
_LABEL_SHARES = (1, 2, 5, 10)  # percent of the rows, as the paper calls its four label counts
_CURVES_OF_THE_PAPER = ("australian", "synth")


def paper_view(spec: PaperSpec, versions: Mapping[str, str], records: Sequence[CellRecord]) -> dict[str, Any]:
    """Return what the report on a run shows: strings, numbers, lists and dicts only.

    Records come in the order of Table 2; cells that are missing are left out of every count.
    """
    rows = experiments.result_rows(records)
    blocks = _blocks(rows, spread_is_known=spec.repetitions > 1)
    datasets = experiments.dataset_rows(records)
    firsts = _firsts(blocks)
    return {
        "title": "Convex Formulation for Kernel PCA and its Use in Semi-Supervised Learning",
        "authors": "Carlos M. Alaíz, Michaël Fanuel and Johan A. K. Suykens",
        "summary": _summary(rows, firsts, spec.repetitions),
        "models": [{"name": model, "label": MODEL_NAMES[model], "ranked": model in _RANKED} for model in _SHOWN],
        "choices": [{"name": choice, "label": label} for choice, label in _CHOICES.items()],
        "firsts": firsts,
        "questions": _questions(blocks, {row["dataset"]: row["majority_percent"] for row in datasets}),
        "table_1": [{**row, "note": _notes(spec).get(row["dataset"], "")} for row in datasets],
        "table_2": _table_2(datasets, blocks),
        "differences": [
            {"dataset": dataset, "n_labeled": count, "choice": _CHOICES[choice], "label": MODEL_NAMES[model], **entry}
            for (dataset, count, choice), block in blocks.items()
            for model, entry in block.items()
            if entry["z"] is not None and abs(entry["z"]) > 3
        ],
        "figure_3": _figure_3(records),
        "certificates": _certificates(records),
        "settings": _settings(spec),
        "versions": [{"name": name, "version": version} for name, version in sorted(versions.items())],
        "command": _command(spec),
    }


def _blocks(rows: Iterable[dict[str, Any]], *, spread_is_known: bool) -> dict[tuple[str, int, str], Block]:
    blocks: dict[tuple[str, int, str], Block] = {}
    for row in rows:
        block = blocks.setdefault((row["dataset"], row["n_labeled"], row["gamma_choice"]), {})
        entry = {name: row[name] for name in ("paper_mean", "paper_std", "z")}
        std = row["accuracy_std"] if spread_is_known else None
        block[row["model"]] = {"mean": row["accuracy_mean"], "std": std, **entry}
    for block in blocks.values():
        for model, entry in block.items():
            entry["rank"] = _rank(block, model, "mean")
            entry["paper_rank"] = _rank(block, model, "paper_mean")
    return blocks


def _rank(block: Block, model: str, column: str) -> int | None:
    """Return the place among the paper's three models; equal means share the better one."""
    if model not in _RANKED or block[model][column] is None:
        return None
    return 1 + sum(bool(block[other][column] > block[model][column]) for other in _RANKED)


def _summary(rows: list[dict[str, Any]], firsts: list[dict[str, Any]], repetitions: int) -> dict[str, Any]:
    agreement = experiments.summarize(rows)
    n_cells, n_printed = agreement.n_cells, len(experiments.paper_values())
    within = []
    for errors, count in ((2, agreement.within_2), (3, agreement.within_3)):
        # The paper's mean has ten draws and ours has its own: the difference spreads wider than either of them.
        chance = math.erf(errors / math.sqrt(2 * (1 + experiments.PAPER_DRAWS / repetitions)))
        shares = {"percent": 100 * count / n_cells if n_cells else 0.0, "percent_by_chance": 100 * chance}
        within.append({"errors": errors, "count": count, **shares})
    covered = "" if n_cells == n_printed else f" (the paper prints {n_printed}; this run covers {n_cells} of them)"
    ahead = {"ours": agreement.ahead_at_fewest, "paper": agreement.paper_ahead_at_fewest}
    leads = [{"labels": "smallest", **ahead, "n_datasets": agreement.n_datasets}, *_lead_at_most(firsts)]
    sentences = [
        f"{agreement.within_2} of {n_cells} cells lie within 2 and {agreement.within_3} within 3 standard errors of "
        f"the paper{covered}.",
        f"With {counted(repetitions, 'draw')} of our own, a run of exactly the paper’s experiment would be expected "
        f"to have about {within[0]['percent_by_chance']:.0f}% of its cells within 2 and "
        f"{within[1]['percent_by_chance']:.0f}% within 3, by chance alone.",
        *(
            f"Semi-KPCA (k = 1) is ahead at the {lead['labels']} label count on {lead['ours']} of "
            f"{counted(lead['n_datasets'], 'data set')} with the best γ (the paper: {lead['paper']})."
            for lead in leads
        ),
    ]
    return {
        "n_cells": n_cells,
        "within": within,
        "leads": leads,
        "sentences": sentences,
        "histogram": _histogram([row["z"] for row in rows if row["z"] is not None]),
    }


def _lead_at_most(firsts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how Semi-KPCA does with the most labels, where the paper does not expect it to win."""
    return [
        {"labels": "largest", "ours": entry["ours"], "paper": entry["paper"], "n_datasets": row["n_datasets"]}
        for row in firsts
        if row["label_share"] == _LABEL_SHARES[-1]
        for choice in row["choices"]
        for entry in choice["models"]
        if (choice["name"], entry["model"]) == ("best", "semi_kpca_1")
    ]


def _histogram(scores: Sequence[float], end: float = 4.0, width: float = 0.5) -> list[dict[str, Any]]:
    """Return counts in bins of equal width; the first and the last one take all that lies beyond."""
    counts = [0] * round(2 * end / width)
    for score in scores:
        counts[min(max(math.floor((score + end) / width), 0), len(counts) - 1)] += 1
    return [{"low": i * width - end, "high": (i + 1) * width - end, "count": count} for i, count in enumerate(counts)]


def _firsts(blocks: Mapping[tuple[str, int, str], Block]) -> list[dict[str, Any]]:
    """Return how often each model comes first, for each share of labels."""
    rows = []
    for level, share in enumerate(_LABEL_SHARES):
        at_level = {key: block for key, block in blocks.items() if key[1] == _label_count(key[0], level)}
        if not at_level:
            continue
        choices = []
        for choice in _CHOICES:
            chosen = [block for key, block in at_level.items() if key[2] == choice]
            ours, paper = (
                {model: sum(block[model][rank] == 1 for block in chosen) for model in _RANKED}
                for rank in ("rank", "paper_rank")
            )
            models = [{"model": model, "ours": ours[model], "paper": paper[model]} for model in _RANKED]
            choices.append({"name": choice, "models": models})
        n_datasets = len({dataset for dataset, _, _ in at_level})
        rows.append({"label_share": share, "n_datasets": n_datasets, "choices": choices})
    return rows


def _label_count(dataset: str, level: int) -> int | None:
    counts = experiments.paper_label_counts(dataset)
    return counts[level] if level < len(counts) else None


def _questions(blocks: Mapping[tuple[str, int, str], Block], majority: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return what else the paper says about its table, with its numbers and ours."""
    printed = {key: block for key, block in blocks.items() if block[_RANKED[0]]["paper_mean"] is not None}
    if not printed:
        return []
    fewest = [block for key, block in printed.items() if key[1] == _label_count(key[0], 0)]
    n_blocks = len(printed)

    def semi_above_subs(column: str) -> list[str]:
        count = sum(block["semi_lssvm"][column] > block["subs_lssvm"][column] for block in fewest)
        return [f"In {count} of {counted(len(fewest), 'comparison')} (best and fixed γ)"]

    def lost_without_best(column: str) -> list[str]:
        best = {key[:2]: block for key, block in printed.items() if key[2] == "best"}
        pairs = [(block, printed[*key, "fixed"]) for key, block in best.items()]
        losses = {model: fmean(one[model][column] - other[model][column] for one, other in pairs) for model in _RANKED}
        return [f"{MODEL_NAMES[model]}: {loss:.1f}" for model, loss in losses.items()]

    def below_majority(column: str) -> list[str]:
        counts = {
            model: sum(block[model][column] < majority[key[0]] for key, block in printed.items()) for model in _RANKED
        }
        return [f"{MODEL_NAMES[model]}: {count} of {n_blocks}" for model, count in counts.items()]

    differences = [block["semi_kpca_1"]["mean"] - block["semi_kpca_0"]["mean"] for block in printed.values()]
    higher, lower = (sum(sign * value > 0 for value in differences) for sign in (1, -1))
    return [
        {
            "question": "Is k = 0 worse than k = 1?",
            "paper": ["“Systematically worse”, and left out of its table"],
            "ours": [f"k = 1 has the higher mean in {higher} of {counted(n_blocks, 'comparison')}, k = 0 in {lower}"],
        },
        *(
            {"question": question, "paper": answer("paper_mean"), "ours": answer("mean")}
            for question, answer in (
                ("At the smallest label count, does Semi-LSSVM have the higher mean than Subs-LSSVM?", semi_above_subs),
                ("How many points of accuracy does the fixed γ lose against the best, on average?", lost_without_best),
                ("How often is the mean below the share of the larger class, which needs no model?", below_majority),
            )
        ),
    ]


def _table_2(datasets: Iterable[dict[str, Any]], blocks: Mapping[tuple[str, int, str], Block]) -> list[dict[str, Any]]:
    table = []
    for dataset in datasets:
        name, rows = dataset["dataset"], []
        for count in dict.fromkeys(key[1] for key in blocks if key[0] == name):
            choices = [
                {"name": choice, "models": [{"model": model, **blocks[name, count, choice][model]} for model in _SHOWN]}
                for choice in _CHOICES
            ]
            rows.append({"n_labeled": count, "percent": 100 * count / dataset["n_samples"], "choices": choices})
        table.append({**dataset, "rows": rows})
    return table


def _figure_3(records: Iterable[CellRecord]) -> dict[str, Any]:
    """Return the curves in the order of the page: the paper's two first, then all others by data set."""
    first, others = [], dict[str, list[dict[str, Any]]]()
    for cell in (record.cell for record in records):
        curve = {"figure": f"curves/{cell}", "dataset": cell.dataset, "n_labeled": cell.n_labeled}
        if cell.dataset in _CURVES_OF_THE_PAPER and cell.n_labeled == _label_count(cell.dataset, 0):
            first.append(curve)
        else:
            others.setdefault(cell.dataset, []).append(curve)
    return {"first": first, "others": [{"dataset": name, "curves": curves} for name, curves in others.items()]}


def _certificates(records: Sequence[CellRecord]) -> list[dict[str, Any]]:
    """Return the convex interval of every data set; it depends on the rows alone, not on the labels."""
    first = {record.cell.dataset: record for record in reversed(records)}
    return [
        {"dataset": name, "eigenvalues": list(record.eigenvalues), "cuts": [_cut(record, k) for k in (0, 1)]}
        for name, record in reversed(first.items())
    ]


def _cut(record: CellRecord, k: int) -> dict[str, Any]:
    certificate = ConvexityCertificate(
        n_components_removed=k,
        next_eigenvalue=record.eigenvalues[k],
        eigenvalues=record.eigenvalues[: k + 1],
        error_weight=record.models[f"semi_kpca_{k}"].fixed_error_weight,
    )
    return {
        "k": k,
        "next_eigenvalue": certificate.next_eigenvalue,
        "error_weight_max": certificate.error_weight_max,
        "middle": certificate.error_weight,
        "relative_percent": 100 * certificate.relative_weight,
        "condition_number": certificate.condition_number,
        "text": str(certificate),
    }


def _notes(spec: PaperSpec) -> dict[str, str]:
    return {
        "breastcancer": "The sample id is kept as the tenth feature: only then do d and the results agree with the "
        "paper’s.",
        "diabetes": "Holds the same rows as pima: the two differ by their draws alone.",
        "iris": "Setosa against the other two species.",
        "pima": "Holds the same rows as diabetes: the two differ by their draws alone.",
        "synth": f"Four Gaussian clusters, drawn once with seed {spec.seed}. The paper had another draw of the data, "
        "and all cells share ours: their differences from the paper go together.",
    }


def _settings(spec: PaperSpec) -> list[dict[str, str]]:
    shares, multiples = spec.relative_weights(), spec.lssvm_weights(1, 1)
    settings = {
        "Data sets": ", ".join(spec.datasets),
        "Repetitions": f"{counted(spec.repetitions, 'draw')} of the labeled rows for each cell, uniformly and without "
        "replacement; nothing forces both classes in",
        "Seed": str(spec.seed),
        "Grid of Semi-KPCA": f"{spec.n_weights} error weights, {shares[0]:,g} to {shares[-1]:,g} of the bound, dense "
        "at both ends",
        "Grid of LS-SVM": f"{spec.n_weights} error weights, {multiples[0]:,g} to {multiples[-1]:,g} times d/N, evenly "
        "on a logarithmic scale",
        "Best γ": "the weight on the grid with the highest mean accuracy over the draws: it looks at the test labels",
        "Fixed γ": "Semi-KPCA: the middle of its interval on a logarithmic scale, 1/√(λ₁λ₂) for k = 1 and half of the "
        "bound for k = 0; Semi-LSSVM: 10 d/N; Subs-LSSVM: 100 d/N",
        "Features and kernel": "mean 0 and variance 1; Gaussian kernel, the bandwidth is the median of all pairwise "
        "distances",
        "Accuracy": "on the unlabeled rows; a decision of exactly zero counts as an error; LS-SVM without a bias term",
    }
    return [{"name": name, "value": value} for name, value in settings.items()]


def _command(spec: PaperSpec) -> str:
    command = f"semikpca paper --repetitions {spec.repetitions} --seed {spec.seed}"
    return command if spec.datasets == PAPER_DATASETS else f"{command} --datasets {','.join(spec.datasets)}"
