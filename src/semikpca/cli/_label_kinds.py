"""The two ways of ``semikpca label``, for classes and for numbers: what is fitted, written and said at the end."""

import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pandas as pd
from rich.console import Console

from semikpca.cli._label_summary import print_summary
from semikpca.cli._number_summary import print_number_summary
from semikpca.cli._pipes import write_asked
from semikpca.cli._table_options import Question, checked_coverage
from semikpca.tables import ColumnRoles, Table
from semikpca.workflow import (
    COVERAGE,
    FilledTable,
    LabelingOptions,
    drawn_rows,
    label_table,
    number_table,
    save_model,
)
from semikpca.workflow import Progress as Say

HELD_OUT = "Labels held out"  # a step of the work


@dataclass(frozen=True)
class Asked:
    """What the command was asked for, whatever the labels are; ``written`` grows with each file."""

    question: Question
    options: LabelingOptions
    target: Path
    report: Path | None
    save: Path | None
    labels_only: bool
    drawn: str | None
    written: list[Path]

    @property
    def command(self) -> str:
        """The command line, for the report."""
        return shlex.join(["semikpca", *sys.argv[1:]])

    def write(self, frame: pd.DataFrame, path: Path, table: Table) -> list[str]:
        """Write a table; return what a user should know of it."""
        notes = write_asked(frame, path, table, raw_cells=self.question.raw_cells)
        self.written.append(path)
        return notes

    def keep(self, labeled: FilledTable) -> None:
        """Write the model, where that was asked."""
        if self.save is not None:
            save_model(self.save, labeled)
            self.written.append(self.save)


@dataclass(frozen=True)
class Done:
    """A table that was filled in and written, with what is left to say."""

    labeled: FilledTable
    notes: list[str]
    summary: Callable[[Console], None]


def refuse_for_numbers(given: Mapping[str, object]) -> None:
    """Refuse options that are about classes."""
    for option, value in given.items():
        if value is not None:
            raise ValueError(
                f"{option} is about classes, and the labels are numbers: none of them is right or wrong. The columns "
                "low and high say how far each can be trusted (--coverage); --classes takes each number as a class."
            )


def label_classes(
    asked: Asked, table: Table, roles: ColumnRoles, accept: float | None, review: Path | None, say: Say
) -> Done:
    """Give every row a class, and write what was asked for."""
    labeled = label_table(table, roles, asked.options, progress=say)
    if asked.drawn is not None:
        labeled = labeled.with_drawn(drawn_rows(labeled.table, asked.drawn))
    say(HELD_OUT, 0, 1)
    accepted = None if accept is None else labeled.accepted(accept)
    _ = labeled.estimate
    say(HELD_OUT, 1, 1)
    say("Writing", 0, 1)
    frame = labeled.to_frame(labels_only=asked.labels_only, accepted=accepted)
    notes = asked.write(frame, asked.target, labeled.table)
    if accepted is not None and review is not None:
        notes += asked.write(labeled.rows_frame(labeled.to_review(accepted)), review, labeled.table)
    asked.keep(labeled)
    if asked.report is not None:
        from semikpca.report import write_label_report

        made = datetime.now().astimezone()
        write_label_report(asked.report, labeled, command=asked.command, created=made, accepted=accepted, progress=say)
        asked.written.append(asked.report)
    return Done(labeled, notes, lambda said: print_summary(said, labeled, asked.question, accepted, review))


def label_numbers(asked: Asked, table: Table, roles: ColumnRoles, coverage: float | None, say: Say) -> Done:
    """Give every row a number, and write what was asked for."""
    coverage = COVERAGE if coverage is None else checked_coverage(coverage)
    numbered = replace(number_table(table, roles, asked.options, progress=say), coverage=coverage)
    if asked.drawn is not None:
        numbered = numbered.with_drawn(drawn_rows(numbered.table, asked.drawn))
    say(HELD_OUT, 0, 1)
    _ = numbered.estimate
    say(HELD_OUT, 1, 1)
    say("Writing", 0, 1)
    notes = asked.write(numbered.to_frame(labels_only=asked.labels_only), asked.target, numbered.table)
    asked.keep(numbered)
    if asked.report is not None:
        from semikpca.report import write_number_report

        made = datetime.now().astimezone()
        write_number_report(asked.report, numbered, command=asked.command, created=made, progress=say)
        asked.written.append(asked.report)
    return Done(numbered, notes, lambda said: print_number_summary(said, numbered, asked.question))
