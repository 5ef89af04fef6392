"""What a run of the accuracy benchmark comes to: the cards on top of its page, and a few sentences."""

from collections.abc import Sequence
from typing import Any

from semikpca_benchmarks.accuracy import (
    ALL,
    BEST_KERNEL,
    CLOSE,
    ENOUGH_LABELS,
    REFERENCE,
    AccuracyRecord,
    failure_rows,
    n_cells_with_enough_labels,
)
from semikpca_benchmarks.report._accuracy_words import Table, best_peer, counted


def summary_cards(
    table: Table, behind: Sequence[dict[str, Any]], records: Sequence[AccuracyRecord]
) -> list[dict[str, Any]]:
    """Return the cards: figures of the reference, each with what it is held against; none without the reference."""
    if (ALL, REFERENCE) not in table:
        return []
    ours = table[ALL, REFERENCE]
    by_rank, by_mean = (best_peer(table, ALL, column) for column in ("rank_mean", "accuracy_mean"))
    beside = f"; {by_rank['method']} {by_rank['rank_mean']:.1f}" if by_rank else ""
    what = f"is its place by mean rank over {counted(ours['n_cells'], 'cell')}"
    cards = [_place_card(table, ALL, what, beside)]
    if ours["accuracy_mean"] is not None:
        mean = ours["accuracy_mean"]
        beside = f"best peer: {by_mean['method']}, {by_mean['accuracy_mean']:.1f}%" if by_mean else ""
        cards.append(_card(f"{mean:.1f}%", "", "mean accuracy over all cells", beside, share=mean))
    n_enough = n_cells_with_enough_labels(records)
    if n_enough and by_mean:
        n_close = n_enough - len(behind)
        what = f"cells with {ENOUGH_LABELS:g} or more labels per class at most {CLOSE:g} points behind the best peer"
        beside = "the others are listed below" if behind else ""
        cards.append(_card(str(n_close), f"of {n_enough}", what, beside, share=100 * n_close / n_enough))
    if ("aside", REFERENCE) in table:
        tuned = table.get(("tuning", REFERENCE))
        beside = f"; tuning half {tuned['rank_mean']:.1f}" if tuned else ""
        cards.append(_place_card(table, "aside", "is its place by mean rank on the sets that were kept aside", beside))
    return [*cards, *_rare_card(table), *_probability_card(table)]


def _rare_card(table: Table) -> list[dict[str, Any]]:
    mean = table["rare", REFERENCE]["balanced_accuracy_mean"] if ("rare", REFERENCE) in table else None
    if mean is None:
        return []
    peer = best_peer(table, "rare", "balanced_accuracy_mean")
    beside = f"best peer: {peer['method']}, {peer['balanced_accuracy_mean']:.1f}%" if peer else ""
    return [_card(f"{mean:.1f}%", "", "mean balanced accuracy on the sets with a rare class", beside, share=mean)]


def _probability_card(table: Table) -> list[dict[str, Any]]:
    ours = table[ALL, REFERENCE]
    if ours["calibration_error_mean"] is None:
        return []
    peer = best_peer(table, ALL, "calibration_error_mean")
    beside = f"; best peer: {peer['method']}, {peer['calibration_error_mean']:.3f}" if peer else ""
    return [
        _card(
            f"{ours['calibration_error_mean']:.3f}",
            "",
            "mean calibration error of its probabilities over all cells",
            f"{_leaning(ours['overconfidence_mean'])}{beside}",
        )
    ]


def _leaning(overconfidence: float) -> str:
    """Say in words on which side probabilities err."""
    return f"{'too sure' if overconfidence > 0 else 'too cautious'} by {abs(overconfidence):.3f}"


def _place_card(table: Table, group: str, what: str, beside: str) -> dict[str, Any]:
    place, n_ranked = _place(table, group)
    rank = table[group, REFERENCE]["rank_mean"]
    return _card(str(place), f"of {n_ranked}", what, f"mean rank {rank:.1f}{beside}")


def _card(figure: str, of: str, what: str, beside: str, share: float | None = None) -> dict[str, Any]:
    return {"figure": figure, "of": of, "what": what, "share": share, "aside": beside}


def summary_sentences(table: Table, behind: Sequence[dict[str, Any]], records: Sequence[AccuracyRecord]) -> list[str]:
    """Return the same in words, and how many fits failed."""
    sentences = []
    if (ALL, REFERENCE) not in table:
        sentences.append(f"{REFERENCE} was not part of this run: there is nothing to hold the other methods against.")
    else:
        sentences += _accuracy_sentences(table, behind, records)
        sentences += _measure_sentences(table)
    n_failed = sum(len(found.failures) for record in records for found in record.methods.values())
    if n_failed:
        failed = dict.fromkeys(row["method"] for row in failure_rows(records))
        left_out = "is left out of its mean" if n_failed == 1 else "are left out of their means"
        sentences.append(f"{counted(n_failed, 'fit')} failed and {left_out}: {', '.join(failed)}.")
    return sentences


def _accuracy_sentences(table: Table, behind: Sequence[dict[str, Any]], records: Sequence[AccuracyRecord]) -> list[str]:
    ours, (place, n_ranked) = table[ALL, REFERENCE], _place(table, ALL)
    by_rank, by_mean = (best_peer(table, ALL, column) for column in ("rank_mean", "accuracy_mean"))
    n_cells = counted(ours["n_cells"], "cell")
    sentence = f"{REFERENCE} has a mean rank of {ours['rank_mean']:.1f} over {n_cells}, place {place} of {n_ranked}"
    sentences = [
        f"{sentence}; the best peer by rank is {by_rank['method']} with {by_rank['rank_mean']:.1f}."
        if by_rank
        else f"{sentence}."
    ]
    if ours["accuracy_mean"] is not None and by_mean is not None:
        sentences.append(
            f"Its mean accuracy is {ours['accuracy_mean']:.1f}%, that of the best peer, {by_mean['method']}, "
            f"{by_mean['accuracy_mean']:.1f}%."
        )
    if ours["accuracy_mean"] is not None and (ALL, BEST_KERNEL) in table:
        best = table[ALL, BEST_KERNEL]["accuracy_mean"]
        sentences.append(
            f"The best of its kernels alone in each cell, which only the test labels can tell, has {best:.1f}%."
        )
    n_enough = n_cells_with_enough_labels(records)
    if n_enough and by_mean is not None:
        sentences.append(
            f"It is more than {CLOSE:g} points behind the best peer of the cell in {len(behind)} of "
            f"{counted(n_enough, 'cell')} with {ENOUGH_LABELS:g} or more labels per class."
        )
    return sentences


def _measure_sentences(table: Table) -> list[str]:
    """Say how the reference does on rare classes, and how good its probabilities are."""
    sentences = []
    rare = table.get(("rare", REFERENCE))
    if rare is not None and rare["rare_f1_mean"] is not None:
        sentence = (
            f"On the sets with a rare class its balanced accuracy is {rare['balanced_accuracy_mean']:.1f}% and its F1 "
            f"of that class {rare['rare_f1_mean']:.1f}%"
        )
        balanced, f1 = (best_peer(table, "rare", column) for column in ("balanced_accuracy_mean", "rare_f1_mean"))
        if balanced is not None and f1 is not None:
            sentence += (
                f"; the best peers have {balanced['balanced_accuracy_mean']:.1f}% ({balanced['method']}) and "
                f"{f1['rare_f1_mean']:.1f}% ({f1['method']})"
            )
        sentences.append(f"{sentence}.")
    ours = table[ALL, REFERENCE]
    if ours["calibration_error_mean"] is not None:
        peer = best_peer(table, ALL, "calibration_error_mean")
        beside = f"; the best peer, {peer['method']}, has {peer['calibration_error_mean']:.3f}" if peer else ""
        sentences.append(
            f"Its probabilities have a calibration error of {ours['calibration_error_mean']:.3f} and are "
            f"{_leaning(ours['overconfidence_mean'])}{beside}."
        )
    return sentences


def _place(table: Table, group: str) -> tuple[int, int]:
    """Return the place of the reference by mean rank in a group, and how many methods have one."""
    ranks = [row["rank_mean"] for (name, _), row in table.items() if name == group and row["rank_mean"] is not None]
    return 1 + sum(rank < table[group, REFERENCE]["rank_mean"] for rank in ranks), len(ranks)
