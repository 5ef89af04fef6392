"""What a run of the accuracy benchmark comes to: the cards on top of its page, and a few sentences."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from semikpca_benchmarks.accuracy import (
    CLOSE,
    ENOUGH_LABELS,
    REFERENCE,
    AccuracyRecord,
    failure_rows,
    n_cells_with_enough_labels,
)

Table: TypeAlias = Mapping[tuple[str, str], dict[str, Any]]
"""The rows of ``summary.csv`` by group and method."""


def summary_cards(
    table: Table, behind: Sequence[dict[str, Any]], records: Sequence[AccuracyRecord]
) -> list[dict[str, Any]]:
    """Return the cards: figures of the reference, each with what it is held against; none without the reference."""
    if ("all", REFERENCE) not in table:
        return []
    ours = table["all", REFERENCE]
    by_rank, by_mean = (_best_peer(table, "all", column) for column in ("rank_mean", "accuracy_mean"))
    beside = f"; {by_rank['method']} {by_rank['rank_mean']:.1f}" if by_rank else ""
    what = f"is its place by mean rank over {counted(ours['n_cells'], 'cell')}"
    cards = [_place_card(table, "all", what, beside)]
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
    return cards


def _place_card(table: Table, group: str, what: str, beside: str) -> dict[str, Any]:
    place, n_ranked = _place(table, group)
    rank = table[group, REFERENCE]["rank_mean"]
    return _card(str(place), f"of {n_ranked}", what, f"mean rank {rank:.1f}{beside}")


def _card(figure: str, of: str, what: str, beside: str, share: float | None = None) -> dict[str, Any]:
    return {"figure": figure, "of": of, "what": what, "share": share, "aside": beside}


def summary_sentences(table: Table, behind: Sequence[dict[str, Any]], records: Sequence[AccuracyRecord]) -> list[str]:
    """Return the same in words, and how many fits failed."""
    sentences = []
    if ("all", REFERENCE) not in table:
        sentences.append(f"{REFERENCE} was not part of this run: there is nothing to hold the other methods against.")
    else:
        ours, (place, n_ranked) = table["all", REFERENCE], _place(table, "all")
        by_rank, by_mean = (_best_peer(table, "all", column) for column in ("rank_mean", "accuracy_mean"))
        n_cells = counted(ours["n_cells"], "cell")
        sentence = f"{REFERENCE} has a mean rank of {ours['rank_mean']:.1f} over {n_cells}, place {place} of {n_ranked}"
        sentences.append(
            f"{sentence}; the best peer by rank is {by_rank['method']} with {by_rank['rank_mean']:.1f}."
            if by_rank
            else f"{sentence}."
        )
        if ours["accuracy_mean"] is not None and by_mean is not None:
            sentences.append(
                f"Its mean accuracy is {ours['accuracy_mean']:.1f}%, that of the best peer, {by_mean['method']}, "
                f"{by_mean['accuracy_mean']:.1f}%."
            )
        n_enough = n_cells_with_enough_labels(records)
        if n_enough and by_mean is not None:
            sentences.append(
                f"It is more than {CLOSE:g} points behind the best peer of the cell in {len(behind)} of "
                f"{counted(n_enough, 'cell')} with {ENOUGH_LABELS:g} or more labels per class."
            )
    n_failed = sum(len(found.failures) for record in records for found in record.methods.values())
    if n_failed:
        failed = dict.fromkeys(row["method"] for row in failure_rows(records))
        left_out = "is left out of its mean" if n_failed == 1 else "are left out of their means"
        sentences.append(f"{counted(n_failed, 'fit')} failed and {left_out}: {', '.join(failed)}.")
    return sentences


def _best_peer(table: Table, group: str, column: str) -> dict[str, Any] | None:
    """Return the peer that is best on average over a group, by "accuracy_mean" or by "rank_mean"."""
    peers = [row for (name, _), row in table.items() if name == group and row["kind"] == "peer"]
    peers = [row for row in peers if row[column] is not None]
    sign = -1 if column == "accuracy_mean" else 1
    return min(peers, key=lambda row: sign * float(row[column]), default=None)


def _place(table: Table, group: str) -> tuple[int, int]:
    """Return the place of the reference by mean rank in a group, and how many methods have one."""
    ranks = [row["rank_mean"] for (name, _), row in table.items() if name == group and row["rank_mean"] is not None]
    return 1 + sum(rank < table[group, REFERENCE]["rank_mean"] for rank in ranks), len(ranks)


def counted(count: int, noun: str) -> str:
    """Return "1 cell", "2 cells"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
