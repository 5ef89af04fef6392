"""Time and peak memory of ``semikpca label`` on a large mixed table, from the file to the file.

The table has 20 columns: an identifier, numbers with empty cells, categories, dates, free text, and labels for a few
rows. The command runs in a process of its own. Its answer is checked before anything is reported: all rows in their
order, the cells as they were, most labels right.

    python benchmarks/bench_label.py --out benchmarks/results/label.csv
    python benchmarks/bench_label.py --texts --rows 100000 --out benchmarks/results/label_texts.csv

With ``--texts`` the texts are all there is beside identifiers and labels.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from results_csv import circumstances, command_line, write_csv

CLASSES = ("invoice", "order", "question", "return")
SEED = 0
LEAST_ACCURACY = 0.9  # columns tell the classes apart clearly; a shuffled or empty answer is far below
MOST_MB = 2_000
COMMAND = [sys.executable, "-c", "from semikpca.cli import main; main()"]

WORDS = {
    "invoice": "amount invoice paid payment bank transfer receipt tax due reminder total charged",
    "order": "order delivery address parcel shipped tracking express items basket confirm date arrive",
    "question": "how can find setting help guide explain possible manual does work where",
    "return": "broken return refund exchange damaged size wrong label send back box replacement",
}
ANY_WORDS = "hello please thanks customer number the a and with for my our since today week again regards team".split()


def mixed_table(n_rows: int, n_labels: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table of 20 columns with some labels, and the class of every row."""
    generator = np.random.default_rng(SEED)
    codes = generator.integers(len(CLASSES), size=n_rows)
    truth = np.array(CLASSES, dtype=object)[codes]
    columns: dict[str, object] = {"id": [f"R{number:07d}" for number in range(n_rows)]}
    centers = generator.normal(0, 1, (len(CLASSES), 10))
    for number in range(10):
        values = centers[codes, number] + generator.normal(size=n_rows)
        cells = pd.Series(values.round(3)).astype(str)
        columns[f"number_{number}"] = cells.mask(generator.uniform(size=n_rows) < 0.03, "")
    for name, n_levels in (("channel", 4), ("country", 12), ("product", 30), ("agent", 200)):
        likely = generator.integers(n_levels, size=(len(CLASSES), 3))
        own = likely[codes, generator.integers(3, size=n_rows)]
        level = np.where(generator.uniform(size=n_rows) < 0.5, own, generator.integers(n_levels, size=n_rows))
        columns[name] = pd.Series(level).map(lambda value, name=name: f"{name} {value}")
    start = np.datetime64("2024-01-01T00:00:00")
    opened = start + generator.integers(0, 700 * 24, n_rows).astype("timedelta64[h]")
    columns["opened"] = np.datetime_as_string(opened, unit="s")
    closed = opened + (1 + generator.exponential(30 + 40 * codes)).astype("timedelta64[h]")
    columns["closed"] = np.datetime_as_string(closed, unit="D")
    columns["is_member"] = np.where(generator.uniform(size=n_rows) < 0.2 + 0.2 * codes, "yes", "no")
    columns["message"] = _messages(codes, generator)
    columns["label"] = ""
    frame = pd.DataFrame(columns)
    for code in range(len(CLASSES)):
        rows = generator.choice(np.flatnonzero(codes == code), n_labels // len(CLASSES), replace=False)
        frame.loc[rows, "label"] = CLASSES[code]
    return frame, truth


def _messages(codes: np.ndarray, generator: np.random.Generator) -> list[str]:
    own = [words.split() for words in WORDS.values()]
    lengths = generator.integers(6, 25, len(codes))
    messages = []
    for code, length in zip(codes, lengths, strict=True):
        is_own = generator.uniform(size=length) < 0.35
        places = generator.integers(0, 10_000, length)
        words = own[code]
        messages.append(
            " ".join(
                words[place % len(words)] if mine else ANY_WORDS[place % len(ANY_WORDS)]
                for mine, place in zip(is_own, places, strict=True)
            )
        )
    return messages


def run_label(folder: Path) -> tuple[float, float, float]:
    """Run the command on ``table.csv``; return seconds, seconds of computing, and the peak of its memory in MB."""
    arguments = ["label", "table.csv", "--label-column", "label", "--id-column", "id", "--text-column", "message"]
    start = time.perf_counter()
    process = subprocess.Popen([*COMMAND, *arguments], cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"No figures: semikpca label ended with exit code {process.returncode}.")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6  # Linux counts in kB


def checked_accuracy(folder: Path, frame: pd.DataFrame, truth: np.ndarray) -> float:
    """Return the share of unlabeled rows with the right label; stop where the answer is not one."""
    found = pd.read_csv(folder / "table.labeled.csv", dtype=str, keep_default_na=False)
    for name in frame.columns:
        if found[name].tolist() != frame[name].tolist():
            raise SystemExit(f"No figures: the column {name!r} did not come back as it was.")
    unlabeled = (frame["label"] == "").to_numpy()
    if (found["label_was_given"].str.lower() == "true").tolist() != (~unlabeled).tolist():
        raise SystemExit("No figures: the rows with a label of their own are not those that had one.")
    accuracy = float(np.mean(found["predicted_label"].to_numpy()[unlabeled] == truth[unlabeled]))
    if accuracy < LEAST_ACCURACY:
        raise SystemExit(f"No figures: only {accuracy:.1%} of the labels are right.")
    return accuracy


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--labels", type=int, default=200)
    parser.add_argument("--texts", action="store_true", help="keep the column of short texts alone")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    records = []
    for n_rows in options.rows:
        frame, truth = mixed_table(n_rows, options.labels)
        if options.texts:
            frame = frame[["id", "message", "label"]]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            frame.to_csv(folder / "table.csv", index=False)
            file_mb = (folder / "table.csv").stat().st_size / 1e6
            seconds, cpu_seconds, peak_mb = run_label(folder)
            accuracy = checked_accuracy(folder, frame, truth)
        records.append(
            {
                "rows": n_rows,
                "columns": frame.shape[1],
                "labels": options.labels,
                "file_mb": f"{file_mb:.1f}",
                "seconds": f"{seconds:.1f}",
                "cpu_seconds": f"{cpu_seconds:.1f}",
                "peak_mb": f"{peak_mb:.0f}",
                "below_2_gb": peak_mb < MOST_MB,
                "accuracy": f"{accuracy:.4f}",
                "seed": SEED,
                **circumstances(command),
                **{name: version(name) for name in ("skrub", "pandas")},
            }
        )
        print(
            f"{n_rows:>9,} rows × {frame.shape[1]} columns, {options.labels} labels: {seconds:.0f} s, peak "
            f"{peak_mb:,.0f} MB, accuracy {accuracy:.1%}",
            flush=True,
        )
    if options.out is not None:
        write_csv(records, options.out)


if __name__ == "__main__":
    main()
