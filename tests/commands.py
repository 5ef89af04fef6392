"""What tests of the commands share: a command in a process of its own, stopped half way; the folder that it leaves."""

import csv
import os
import signal
import subprocess
import sys
import time

COMMAND = [sys.executable, "-c", "from semikpca.cli import main; main()"]
A_FIRST_RECORD, AN_END = 120, 120  # seconds; far more than either takes, so that a test that hangs fails


def rows_of(path):
    """Return the rows of a CSV file as dicts."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def copied(folder, target):
    """Copy what a run knows, its spec and records, and nothing that was made of them."""
    (target / "records").mkdir(parents=True)
    for path in [folder / "run.json", *(folder / "records").iterdir()]:
        (target / path.relative_to(folder)).write_bytes(path.read_bytes())
    return target


def changed_at(folder):
    """Return when each record was written, by file name."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "records").glob("*.json")}


def stopped_after_a_record(out, *arguments, stop=signal.SIGINT):
    """Run a command until its first record is there, and send a signal; return the ended process and its messages."""
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + A_FIRST_RECORD
    while not list((out / "records").glob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, stop)  # what a terminal sends to the whole group on Ctrl-C
    _, messages = process.communicate(timeout=AN_END)
    return process, messages
