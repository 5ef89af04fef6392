"""Kill -9: whatever moment it comes at, nothing that was confirmed is lost and no file is half there."""

import csv
import hashlib
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kill_many import PARTS, is_whole_model
from semikpca._files import write_whole

ROOT = Path(__file__).parents[2]
STORED = ROOT / "benchmarks" / "results" / "kill.csv"
OLD, NEW = b"old" * 1000, b"new" * 100_000
PATIENCE = 60  # seconds until a process that should end is given up on
# Each of these starts a program some times, which takes longer than what it does there.
KILLS = {"paper": 2, "label": 2, "app": 3}
# Slow: programs are started, killed and started again
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Only where programs can be killed so."),
]


@pytest.mark.parametrize("command", PARTS)
def test_what_was_confirmed_outlives_the_program(command, tmp_path):
    figures = PARTS[command](KILLS[command], 1, tmp_path)
    assert figures.kills == KILLS[command]
    assert figures.confirmed > 0


def test_stored_figures_are_those_of_many_kills():
    with STORED.open(encoding="utf-8", newline="") as file:
        rows = {row["what"]: row for row in csv.DictReader(file)}
    assert set(rows) == set(PARTS)
    assert all(int(row["kills"]) >= 30 and row["lost"] == "0" for row in rows.values())


def test_a_model_that_is_cut_short_is_not_whole():
    body = b"facts\nand more"
    head = f"name\nsha256 {hashlib.sha256(body).hexdigest()} {len(body)}\n".encode()
    assert is_whole_model(head + body)
    assert not is_whole_model(head + body[:-1])
    assert not is_whole_model(head + body[:-1] + b"!")


# -- one write, killed at each of its steps --------------------------------------------------------------------------

# The module alone: what it needs is the standard library, and a program that starts quickly can be killed often.
DYING = """
import importlib.util, os, signal, sys
from pathlib import Path

spec = importlib.util.spec_from_file_location("files", sys.argv[1])
files = importlib.util.module_from_spec(spec)
spec.loader.exec_module(files)
path, step = Path(sys.argv[2]), sys.argv[3]

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def dying(name, before):
    real = getattr(os, name)
    calls = []
    def call(*arguments, **options):
        calls.append(name)
        if before and len(calls) == before:
            die()
        result = real(*arguments, **options)
        if before < 0 and len(calls) == -before:
            die()
        return result
    setattr(os, name, call)

name, _, when = step.partition(" ")
if name == "write":
    real_open = open
    def half_open(*arguments):
        file = real_open(*arguments)
        real_write = file.write
        class Dying:
            def __enter__(self): return self
            def __exit__(self, *exception): file.close()
            def write(self, content):
                real_write(content[: len(content) // 2])
                file.flush()
                die()
        return Dying()
    files.open = half_open
else:
    dying(name, int(when))
files.write_whole(path, b"new" * 100_000)
die()
"""
# A step, the call of it that counts (negative: killed after it), and what is there then.
STEPS = [
    ("write 0", OLD),
    ("fsync 1", OLD),
    ("fsync -1", OLD),
    ("replace 1", OLD),
    ("replace -1", NEW),
    ("fsync 2", NEW),
    ("fsync -2", NEW),
    ("getpid 99", NEW),
]


@pytest.mark.parametrize("has_earlier", [True, False])
@pytest.mark.parametrize(("step", "expected"), STEPS)
def test_a_write_that_is_killed_leaves_the_old_file_or_the_new_one(tmp_path, step, expected, has_earlier):
    path = tmp_path / "table.csv"
    if has_earlier:
        path.write_bytes(OLD)
    source = ROOT / "src" / "semikpca" / "_files.py"
    process = subprocess.run([sys.executable, "-S", "-c", DYING, str(source), str(path), step], timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    if expected == OLD and not has_earlier:
        assert not path.exists()
    else:
        assert path.read_bytes() == expected
    others = {one.name for one in tmp_path.iterdir()} - {path.name}
    assert others <= {".table.csv.partial"}
    write_whole(path, NEW)
    assert list(tmp_path.iterdir()) == [path]  # the next write takes the place of what was left
    assert path.read_bytes() == NEW


def test_a_file_is_on_disk_before_its_name_and_the_name_before_the_answer(tmp_path, monkeypatch):
    done = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(descriptor):
        mode = os.fstat(descriptor).st_mode
        done.append("folder" if stat.S_ISDIR(mode) else f"file of {os.fstat(descriptor).st_size}")
        real_fsync(descriptor)

    def replace(source, target):
        done.append("name")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    write_whole(tmp_path / "table.csv", NEW)
    assert done == [f"file of {len(NEW)}", "name", "folder"]


@pytest.mark.parametrize(("number", "is_passed_over"), [(22, True), (95, True), (5, False), (28, False)])
def test_a_folder_that_cannot_be_synced_is_no_fault_unless_the_disk_is(tmp_path, monkeypatch, number, is_passed_over):
    real_fsync = os.fsync

    def fsync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        real_fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    path = tmp_path / "table.csv"
    if is_passed_over:
        write_whole(path, NEW)
    else:
        with pytest.raises(OSError, match=os.strerror(number)):
            write_whole(path, NEW)
    assert path.read_bytes() == NEW


def test_a_folder_that_cannot_be_opened_is_no_fault(tmp_path, monkeypatch):
    def denied(path, flags):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    write_whole(tmp_path / "table.csv", NEW)
    assert (tmp_path / "table.csv").read_bytes() == NEW


# -- processes side by side ------------------------------------------------------------------------------------------

PARENT = """
import os, time
from joblib import Parallel, delayed
from semikpca.experiments._workers import WithParent

def slow(number):
    print(os.getpid(), flush=True)
    time.sleep(600)

Parallel(n_jobs=2)(delayed(WithParent.here(slow))(number) for number in range(2))
"""


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Other processes are looked up in /proc.")
def test_workers_end_with_a_parent_that_was_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        assert all(map(is_running, workers))
        parent.kill()
    end = time.monotonic() + PATIENCE
    while any(map(is_running, workers)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(map(is_running, workers))
