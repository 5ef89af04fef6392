"""Programs are compiled once, kept in a file that is checked, and done without where they cannot be kept."""

import os
import stat

import pytest

pytest.importorskip("llvmlite")

from semikpca.kernels import ExponentialDecay
from semikpca.kernels.compiled import _machine as machine
from semikpca.kernels.compiled._programs import Program

PROGRAM = Program("inner product", ExponentialDecay(), "float32", 16, 16)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder for machine code, and no program in memory."""
    monkeypatch.setenv("SEMIKPCA_CACHE_DIR", str(tmp_path / "code"))
    machine.functions_of.cache_clear()
    yield tmp_path / "code"
    machine.functions_of.cache_clear()


@pytest.fixture
def compilations(monkeypatch):
    """The programs that were compiled, in turn."""
    seen, compile_it = [], machine.compiled

    def counted(program):
        seen.append(program)
        return compile_it(program)

    monkeypatch.setattr(machine, "compiled", counted)
    return seen


def test_another_process_finds_what_was_compiled(folder, compilations):
    first = machine.functions_of(PROGRAM)
    assert machine.functions_of(PROGRAM) is first
    machine.functions_of.cache_clear()  # as in another process
    assert machine.functions_of(PROGRAM) is not first
    assert compilations == [PROGRAM]
    assert [path.suffix for path in folder.iterdir()] == [".code"]


@pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")
def test_nobody_else_can_write_where_code_is_kept(folder, compilations):
    machine.functions_of(PROGRAM)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="other systems have other owners")
def test_code_of_another_user_is_not_run(folder, compilations, monkeypatch):
    machine.functions_of(PROGRAM)
    machine.functions_of.cache_clear()
    owner = os.getuid()
    monkeypatch.setattr(machine.os, "getuid", lambda: owner + 1)
    machine.functions_of(PROGRAM)
    assert len(compilations) == 2


@pytest.mark.parametrize("damage", [lambda code: code[:-1], lambda code: b"", lambda code: code[:-1] + b"?"])
def test_a_damaged_file_is_compiled_again_and_replaced(folder, compilations, damage):
    machine.functions_of(PROGRAM)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    machine.functions_of.cache_clear()
    machine.functions_of(PROGRAM)
    assert len(compilations) == 2
    assert path.read_bytes() == whole


def test_a_folder_that_cannot_be_written_costs_a_compilation_and_nothing_else(folder, compilations):
    folder.write_text("a file where the folder would be")
    assert machine.functions_of(PROGRAM).program == PROGRAM
    assert machine.functions_of(PROGRAM).program == PROGRAM
    assert len(compilations) == 1


def test_no_home_folder_costs_a_compilation_and_nothing_else(monkeypatch, folder, compilations):
    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(machine, "cache_folder", nowhere)
    assert machine.functions_of(PROGRAM).program == PROGRAM
    assert len(compilations) == 1


def test_another_processor_or_compiler_has_a_file_of_its_own(folder, monkeypatch):
    paths = {machine._path(PROGRAM)}
    monkeypatch.setattr(machine.binding, "get_host_cpu_name", lambda: "another")
    paths.add(machine._path(PROGRAM))
    monkeypatch.setattr(machine.llvmlite, "__version__", "0.0")
    paths.add(machine._path(PROGRAM))
    assert len(paths) == 3


@pytest.mark.parametrize(
    ("triple", "features", "wanted"),
    [
        ("aarch64-unknown-linux-gnu", {}, (16, 32)),
        ("arm64-apple-darwin24", {}, (16, 32)),
        ("x86_64-unknown-linux-gnu", {}, (16, 16)),
        ("x86_64-unknown-linux-gnu", {"avx2": True}, (32, 16)),
        ("x86_64-pc-windows-msvc", {"avx2": True, "avx512f": True}, (32, 16)),
        ("x86_64-unknown-linux-gnu", dict.fromkeys(["avx2", "avx512f", "avx512dq", "avx512vl"], True), (64, 32)),
    ],
)
def test_vectors_are_as_long_as_the_registers(triple, features, wanted, monkeypatch):
    monkeypatch.setattr(machine.binding, "get_process_triple", lambda: triple)
    monkeypatch.setattr(machine.binding, "get_host_cpu_features", lambda: features)
    machine.vector_registers.cache_clear()
    try:
        assert machine.vector_registers() == wanted
    finally:
        machine.vector_registers.cache_clear()


@pytest.mark.parametrize(
    ("platform", "variables", "wanted"),
    [
        ("linux", {"HOME": "/home/me"}, "/home/me/.cache/semikpca"),
        ("linux", {"HOME": "/home/me", "XDG_CACHE_HOME": "/fast"}, "/fast/semikpca"),
        ("darwin", {"HOME": "/Users/me"}, "/Users/me/Library/Caches/semikpca"),
        ("win32", {"HOME": "/me", "LOCALAPPDATA": "/me/AppData"}, "/me/AppData/semikpca/cache"),
        ("linux", {"HOME": "/home/me", "SEMIKPCA_CACHE_DIR": "/elsewhere"}, "/elsewhere"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="paths are written as here")
def test_code_is_kept_where_the_platform_keeps_such_files(platform, variables, wanted, monkeypatch):
    for name in ("XDG_CACHE_HOME", "SEMIKPCA_CACHE_DIR", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(machine.sys, "platform", platform)
    assert str(machine.cache_folder()) == wanted
