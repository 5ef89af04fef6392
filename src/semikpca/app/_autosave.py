"""Labels that survive the page: one small file, written whole at each change."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from semikpca._files import write_whole
from semikpca.workflow import PAGE_LABELS_FORMAT as FORMAT
from semikpca.workflow import STATE_FOLDER_VARIABLE, PageLabels, SavedLabels, fingerprint_of, state_folder
from semikpca.workflow import PageLabelsError as AutosaveError

__all__ = [
    "STATE_FOLDER_VARIABLE",
    "Autosave",
    "AutosaveError",
    "SavedLabels",
    "fingerprint_of",
    "state_folder",
]


@dataclass(frozen=True)
class Autosave(PageLabels):
    """The place of the labels of one table, to write to."""

    def save(
        self,
        classes: Sequence[Any],
        labels: Mapping[int, Any],
        error_weight: float | str,
        drawn: Iterable[int] = (),
        accepted: Mapping[int, Any] | None = None,
        flagged: Iterable[int] = (),
    ) -> None:
        """Write all labels; the file is there whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        content = {
            "format": FORMAT,
            "fingerprint": self.fingerprint,
            "saved_at": datetime.now().astimezone().isoformat(timespec="seconds"),
            "error_weight": error_weight,
            "classes": list(classes),
            "labels": [[row, label] for row, label in sorted(labels.items())],
            "accepted": [[row, label] for row, label in sorted((accepted or {}).items())],
            "flagged": sorted(flagged),
            "drawn": sorted(drawn),
        }
        write_whole(self.path, json.dumps(content, ensure_ascii=False, indent=0))

    def load(self, n_rows: int) -> SavedLabels | None:
        """Return what was saved, or None where nothing was; what cannot be used is refused with what becomes of it."""
        try:
            return super().load(n_rows)
        except AutosaveError as error:
            kept = f"They are kept as {self.previous.name} when you give the next label."
            raise AutosaveError(f"{error} {kept}") from error

    def set_aside(self) -> None:
        """Keep the saved labels under another name, where there are any."""
        if not self.path.exists():
            return
        place = self.previous
        try:
            os.link(self.path, place)  # until the next save they are there under both names, whenever the program dies
        except OSError:
            os.replace(self.path, place)  # a file system without links
