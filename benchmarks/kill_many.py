"""Kill -9 at random moments, many times: nothing that was confirmed may be lost, and no file may be half there.

``paper``
    Killed and resumed until it is through, over and over. Whatever file a killed run leaves is byte for byte that of an
    undisturbed run, no finished record is lost or computed again, and in the end the folders are equal.
``label``
    Each output (labels, model, report) is the new one, whole, or what was there before: an earlier file, or none.
``app``
    Every click that was answered (labels, classes that are added, renamed, merged and deleted, flags, acceptances, the
    error weight, steps back and forth) is in the autosave and is offered again on the next start; what was under way
    when the program died is there whole or not at all.

A killed write may leave a file ``.NAME.partial``. Nothing takes it for a result, it is in nobody's way, and the next
write of NAME removes it.

    python benchmarks/kill_many.py --kills 100 --out benchmarks/results/kill.csv
"""

import argparse
import hashlib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench_click import write_rows
from kill_figures import PARTIAL, Figures, expect
from kill_page import kill_app
from results_csv import circumstances, command_line, write_csv

COMMAND = [sys.executable, "-c", "from semikpca.cli import main; main()"]
SOON = 0.03  # seconds between the file that was waited for and the kill, at most: about a write of the next one
LOOK_EVERY = 0.005  # seconds between two looks into the folder, which cost time too


# -- commands that write files -------------------------------------------------------------------------------------


@dataclass
class Killer:
    """Runs commands on one folder and kills them there.

    A moment is a number of files that have changed, and a little time after that; or, before any file has, a share of
    the time that an undisturbed run takes until then.
    """

    folder: Path
    random: random.Random
    first_file: float = 0.0  # seconds
    most_changes: int = 1
    seen: set[str] = field(default_factory=set)  # names that were there at the moment of the kill

    def run(self, *arguments: str) -> None:
        """Run a command undisturbed, and learn from it when to kill."""
        began, before = time.monotonic(), self.state()
        process = self._start(arguments)
        first = None
        while process.poll() is None:
            if first is None and self.state() - before:
                first = time.monotonic() - began
            time.sleep(LOOK_EVERY)
        if process.returncode:
            raise SystemExit(f"semikpca {' '.join(arguments)} ended with {process.returncode}.")
        self.first_file = first or time.monotonic() - began
        self.most_changes = max(self.most_changes, len(self.state() - before))

    def kill(self, *arguments: str) -> bool:
        """Run a command and kill it; return whether it was still running."""
        changes = self.random.randint(0, self.most_changes)
        wait = self.random.uniform(0.0, SOON if changes else self.first_file)
        before, process = self.state(), self._start(arguments)
        while process.poll() is None and len(self.state() - before) < changes:
            time.sleep(LOOK_EVERY)
        time.sleep(wait)
        self.seen = {name for name, _ in self.state()}
        process.kill()
        return process.wait() < 0

    def state(self) -> set[tuple[str, int]]:
        """Return the names of all files but partial ones, each with the time of its last change."""
        found = set()
        for path in self.folder.rglob("*"):
            try:
                if path.is_file() and not path.name.endswith(PARTIAL):
                    found.add((str(path.relative_to(self.folder)), path.stat().st_mtime_ns))
            except FileNotFoundError:
                continue  # renamed while we looked
        return found

    def partial_files(self) -> list[Path]:
        """Return what killed writes have left; anything else that is hidden is none of ours."""
        return [path for path in self.folder.rglob(f".*{PARTIAL}")]

    def _start(self, arguments: tuple[str, ...]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder, by their names."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def kill_paper(kills: int, seed: int, folder: Path) -> Figures:
    """Kill ``semikpca paper`` and resume it, again and again."""
    figures, chosen = Figures("paper"), random.Random(seed)
    reference, out = folder / "undisturbed", folder / "killed"
    options = ["paper", "--datasets", "iris", "--repetitions", "2", "--jobs", "1", "--out"]
    undisturbed = Killer(reference, chosen)
    undisturbed.run(*options, str(reference))
    expected = contents(reference)
    killer = Killer(out, chosen, undisturbed.first_file, undisturbed.most_changes)
    records: dict[str, int] = {}
    while figures.kills < kills:
        if killer.kill(*options, str(out), "--resume"):
            figures.kills += 1
        else:
            figures.finished += 1
        found = contents(out) if out.exists() else {}
        whole = {name: content for name, content in found.items() if not name.endswith(PARTIAL)}
        figures.partial_files += len(found) - len(whole)
        figures.confirmed += len(whole)
        expect(whole.items() <= expected.items(), "a file differs from that of an undisturbed run")
        expect(killer.seen <= set(whole), f"gone: {killer.seen - set(whole)}")
        written = {name: time for name, time in killer.state() if name.startswith("records")}
        expect(records.items() <= written.items(), "a finished record was written again")
        records = written
        if set(whole) == set(expected) and chosen.random() < 0.3:
            check_end(killer, expected, options, out)
            records = {}
            for path in sorted(out.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
    check_end(killer, expected, options, out)
    return figures


def check_end(killer: Killer, expected: dict[str, bytes], options: list[str], out: Path) -> None:
    killer.run(*options, str(out), "--resume")
    expect(contents(out) == expected, "the finished run differs from an undisturbed one")


def kill_label(kills: int, seed: int, folder: Path) -> Figures:
    """Kill ``semikpca label``, with and without earlier outputs in its way."""
    figures, chosen = Figures("label"), random.Random(seed)
    table, outputs = folder / "clusters.csv", folder / "outputs"
    outputs.mkdir()
    write_rows(table, 60)
    given = table.read_bytes()
    names = {"-o": "labels.csv", "--save": "labels.model", "--report": "labels.html"}
    arguments = ["label", str(table), "-l", "color", "--kernel", "rbf"]
    for option, name in names.items():
        arguments += [option, str(outputs / name)]
    killer = Killer(outputs, chosen)
    killer.run(*arguments)
    expected = (outputs / "labels.csv").read_bytes()
    is_whole: dict[str, Callable[[bytes], bool]] = {
        "labels.csv": lambda content: content == expected,  # the others hold times
        "labels.model": is_whole_model,
        "labels.html": lambda content: content.rstrip().endswith(b"</html>"),
    }
    while figures.kills < kills:
        has_earlier = chosen.random() < 0.5
        earlier = {name: f"an earlier {name}".encode() if has_earlier else None for name in is_whole}
        for name, content in earlier.items():
            if content is None:
                (outputs / name).unlink(missing_ok=True)
            else:
                (outputs / name).write_bytes(content)
        if killer.kill(*arguments, *(["--force"] if has_earlier else [])):
            figures.kills += 1
        else:
            figures.finished += 1
        for name, check in is_whole.items():
            now = (outputs / name).read_bytes() if (outputs / name).exists() else None
            expect(now == earlier[name] or (now is not None and check(now)), f"{name} is neither whole nor the earlier")
            figures.confirmed += now != earlier[name]
        strangers = (
            {path.name for path in outputs.iterdir()} - set(is_whole) - {f".{name}{PARTIAL}" for name in is_whole}
        )
        expect(not strangers, f"files that nobody asked for: {strangers}")
        expect(table.read_bytes() == given, "the table was changed")
        figures.partial_files += len(killer.partial_files())
    killer.run(*arguments, "--force")
    expect({path.name for path in outputs.iterdir()} == set(is_whole), "a partial file outlived the next run")
    return figures


def is_whole_model(content: bytes) -> bool:
    """Return whether the checksum on its second line fits all that follows."""
    _, line, body = content.split(b"\n", 2)
    word, digest, length = line.decode().split(" ")
    return word == "sha256" and len(body) == int(length) and hashlib.sha256(body).hexdigest() == digest


PARTS = {"paper": kill_paper, "label": kill_label, "app": kill_app}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="of each command")
    parser.add_argument("--commands", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="CSV file to write")
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    records = []
    for name in options.commands:
        with tempfile.TemporaryDirectory() as folder:
            figures = PARTS[name](options.kills, options.seed, Path(folder))
        records.append({**vars(figures), "lost": 0, "seed": options.seed, **circumstances(command)})
        print(", ".join(f"{key} {value}" for key, value in vars(figures).items()), "and nothing lost", flush=True)
        if options.out:
            write_csv(records, options.out)  # each time: this takes long, and may be killed itself


if __name__ == "__main__":
    main()
