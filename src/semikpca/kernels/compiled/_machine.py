"""From a program to functions that run on this processor: compiled once, kept in a file, loaded once in a process."""

import ctypes
import hashlib
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import llvmlite
from llvmlite import binding

# Not in releases before 0.44, which are then as good as not installed.
from llvmlite.binding import create_pass_builder, create_pipeline_tuning_options

from semikpca._files import write_whole
from semikpca.kernels.compiled import _emit, _programs
from semikpca.kernels.compiled._programs import AHEAD, BOTH_SIDES, VALUES, Program

CACHE_FOLDER_VARIABLE = "SEMIKPCA_CACHE_DIR"

_log = logging.getLogger(__name__)
_compiling = Lock()
_N_ARRAYS = {VALUES: 3, AHEAD: 5, BOTH_SIDES: 7}
_N_SIZES = 6


@dataclass(frozen=True)
class Functions:
    """The functions of a program on this processor; they run without holding the other threads of Python.

    Attributes
    ----------
    program : Program
    values, ahead, both_sides : callable
        Take addresses of arrays and sizes, in the order of ``_programs.py``.
    code : object
        What the functions lie in, kept as long as they are.
    """

    program: Program
    values: Callable[..., None]
    ahead: Callable[..., None]
    both_sides: Callable[..., None]
    code: Any


@lru_cache(maxsize=1)
def vector_registers() -> tuple[int, int]:
    """Return the bytes of a vector on this processor, and how many of them a core holds."""
    if binding.get_process_triple().startswith(("aarch64", "arm64")):
        return 16, 32
    features = binding.get_host_cpu_features()
    if features.get("avx512f") and features.get("avx512dq") and features.get("avx512vl"):
        return 64, 32
    return (32, 16) if features.get("avx2") else (16, 16)


@lru_cache(maxsize=64)
def functions_of(program: Program) -> Functions:
    """Return the functions of a program, from the file of an earlier process where there is one."""
    with _compiling:
        code = _kept(program)
        engine = _engine(code if code is not None else _compiled_and_kept(program))
    called = {
        name: ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arrays, *[ctypes.c_int64] * _N_SIZES)(
            engine.get_function_address(name)
        )
        for name, n_arrays in _N_ARRAYS.items()
    }
    return Functions(program, called[VALUES], called[AHEAD], called[BOTH_SIDES], engine)


def compiled(program: Program) -> bytes:
    """Return the machine code of a program for this processor."""
    return bytes(target_machine().emit_object(optimized(program)))


def optimized(program: Program) -> Any:
    """Return a program as a module of LLVM, ready for being turned into machine code."""
    module = binding.parse_assembly(program.instructions())
    module.verify()
    options = create_pipeline_tuning_options(speed_level=2)
    # Programs say themselves what is done in vectors, and how often: more of it would only take the compiler longer.
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    passes = create_pass_builder(target_machine(), options)
    passes.getModulePassManager().run(module, passes)
    return module


def cache_folder() -> Path:
    """Return the platform's usual folder for what can be made again, or that of the environment variable."""
    if given := os.environ.get(CACHE_FOLDER_VARIABLE):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "semikpca" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "semikpca"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "semikpca"


def target_machine() -> Any:
    """Return LLVM's description of this processor."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_triple(binding.get_process_triple()).create_target_machine(
        cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), opt=3
    )


def _engine(code: bytes) -> Any:
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target_machine())
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def _path(program: Program) -> Path:
    """Return where the machine code of a program is kept; another compiler, processor or source has another place."""
    sources = [Path(str(module.__file__)).read_bytes() for module in (_emit, _programs)]
    machine = (binding.get_process_triple(), binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    meant = repr((program, llvmlite.__version__, machine)).encode()
    digest = hashlib.sha256(b"".join([meant, *sources])).hexdigest()
    return cache_folder() / f"{digest[:32]}.code"


def _kept(program: Program) -> bytes | None:
    """Return machine code that was kept; None where there is none, or it is damaged, or somebody else's."""
    try:
        path = _path(program)
        if hasattr(os, "getuid") and path.stat().st_uid != os.getuid():
            return None  # what runs in this process is for its user to write
        content = path.read_bytes()
    except (OSError, RuntimeError):  # the second where nobody knows a home folder
        return None
    digest, code = content[:32], content[32:]
    return code if hashlib.sha256(code).digest() == digest else None


def _compiled_and_kept(program: Program) -> bytes:
    code = compiled(program)
    try:
        path = _path(program)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, hashlib.sha256(code).digest() + code)
    except (OSError, RuntimeError) as error:
        _log.debug("The compiled program is not kept, and the next process compiles it again: %s", error)
    return code
