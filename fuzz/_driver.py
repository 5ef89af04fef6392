"""One run of the fuzzer on one target: seeds from the corpus, coverage of semikpca alone."""

import os
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
WORK = ROOT / "fuzz" / "work"
LONGEST_RUN = 60  # seconds for one input; whatever takes longer counts as a hang


def main(target, *, as_seed=Path.read_bytes):
    """Fuzz ``tests/fuzz/TARGET_target.py`` until it finds a fault, or until -max_total_time is over.

    Inputs that reach new code are kept in ``fuzz/work/TARGET``, so that the next run goes on from there; an input that
    shows a fault is written to ``fuzz/work`` as well, and its name is printed.

    Parameters
    ----------
    target : {"labels", "matrices", "models", "tables"}
        Its function ``judge`` takes bytes and raises at a fault.
    as_seed : callable, optional
        From a file of the corpus to the bytes that ``judge`` takes.
    """
    import atheris

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.path.insert(0, str(ROOT / "tests"))
    with atheris.instrument_imports(include=["semikpca"], enable_loader_override=False):
        judge = import_module(f"fuzz.{target}_target").judge
    kept = WORK / target
    kept.mkdir(parents=True, exist_ok=True)
    for path in sorted((CORPUS / target).iterdir()):
        (kept / path.name).write_bytes(as_seed(path))

    def once(data):
        judge(data)  # what it returns is of no concern here

    options = [f"-timeout={LONGEST_RUN}", f"-artifact_prefix={WORK / target}-"]
    atheris.Setup([sys.argv[0], *options, *sys.argv[1:], str(kept)], once)
    atheris.Fuzz()
