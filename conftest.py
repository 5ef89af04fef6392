"""What all tests share, those of the package and those of the benchmarks: threads, signals, and a browser."""

import os
import shutil
import signal

import pytest
import scipy.linalg  # noqa: F401  (its BLAS must be loaded before it can be held to one thread)
from threadpoolctl import threadpool_limits

# torch and faiss bring an OpenMP each, and with several threads in both, a parallel region was seen to wait forever.
# Read when torch is first imported, which no test module does before this one.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread():
    """Hold BLAS to one thread: small matrices gain nothing from two, and waiting threads slow down a busy machine.

    Tests that are about threads set their own limit inside.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        yield


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_interrupts():
    """Let SIGINT interrupt, also in a run that began with the signal ignored.

    That is how ``nohup``, a shell's background jobs and many job runners start a process, and then neither a test nor
    the commands that it starts would hear Ctrl-C: a process hands on that a signal is ignored, but not a handler.
    """
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _find_chromium():
    try:
        import playwright  # noqa: F401  (whether it is there)
    except ModuleNotFoundError:
        return None, "the Python package playwright is not installed"
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return found, None if found else "no Chromium is installed (Debian: apt-get install chromium)"


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium, where there is one."""
    executable, reason = _find_chromium()
    if reason:
        pytest.skip(f"Not tested in a browser: {reason}.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield chromium
        chromium.close()
