"""What processes of the speed benchmark do in tests: they import it by name, which test files do not have."""

import multiprocessing
import os
import signal
import time

from semikpca_benchmarks.speed._runner import _work as real_work


def die(connection, cell, methods):
    """End as a process does that the system kills for want of memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def fail_with_the_plain_product(connection, cell, methods):
    """Fail with one method, and do the others."""
    if methods[0].startswith("rbf"):
        connection.send("ArithmeticError: no luck")
    else:
        real_work(connection, cell, methods)


def press_ctrl_c(connection, cell, methods):
    """Interrupt whoever has started this and now waits for an answer, and go on for long."""
    time.sleep(0.5)
    os.kill(multiprocessing.parent_process().pid, signal.SIGINT)
    time.sleep(30)
