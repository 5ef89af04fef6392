"""The program that fits what accuracy is expected: at its smallest size, and on draws whose constants are known."""

import subprocess
import sys
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest

import fit_expected_accuracy as program
from commands import rows_of
from semikpca.blending import AccuracyEvidence
from semikpca_benchmarks.accuracy import AccuracyCell
from semikpca_benchmarks.datasets import benchmark_info

SCRIPT = Path(__file__).parents[2] / "fit_expected_accuracy.py"
NAMES = ("iris", "sonar", "heart", "digits")


def draws_with(constants, n=200, noise=0.0):
    """Draws of several sets whose accuracy is what some constants say, but for noise."""
    generator = np.random.default_rng(0)
    found = []
    for number in range(n):
        evidence = AccuracyEvidence(
            consensus=generator.uniform(0.4, 1),
            agreement=generator.uniform(0, 1),
            n_classes=int(generator.integers(2, 12)),
            labels_a_class=float(generator.integers(1, 20)),
            left_out_accuracy=generator.uniform(0.3, 1),
            n_left_out=float(generator.integers(0, 100)),
        )
        found.append(program.Draw(AccuracyCell(benchmark_info(NAMES[number % 4]), 5), evidence, 0.0))
    truth = program.expected(found, constants) + noise * generator.normal(size=n)
    return [replace(draw, accuracy=float(value)) for draw, value in zip(found, truth, strict=True)]


def test_the_formula_is_that_of_the_package():
    draws = draws_with(program.PRESENT)
    program.check(draws)
    for draw in draws[:20]:
        assert draw.accuracy == pytest.approx(draw.evidence.expected_accuracy, abs=1e-12)


def test_constants_that_are_out_of_date_are_refused(monkeypatch):
    monkeypatch.setattr(program, "PRESENT", replace(program.PRESENT, of_agreement=2.4))
    with pytest.raises(AssertionError, match="PRESENT is out of date"):
        program.check(draws_with(program.PRESENT))


def test_constants_behind_the_accuracies_are_found():
    wanted = program.Constants(-3.0, 1.3, 1.7, 0.2, 50.0, 0.4)
    draws = draws_with(wanted)
    assert program.errors(draws, program.PRESENT).mean() > 0.02
    found = program.fitted(draws)
    assert program.errors(draws, found).mean() < 1e-3
    np.testing.assert_allclose(astuple(found)[:4], astuple(wanted)[:4], atol=0.1)


def test_a_set_is_held_out_with_all_of_its_draws(monkeypatch):
    draws = draws_with(program.PRESENT, n=40, noise=0.05)
    seen = []

    def fitted(some):
        seen.append({draw.cell.dataset for draw in some})
        return program.PRESENT

    monkeypatch.setattr(program, "fitted", fitted)
    found = program.held_out_errors(draws)
    assert sorted(map(len, seen)) == [3, 3, 3, 3]
    np.testing.assert_allclose(found, program.errors(draws, program.PRESENT))


@pytest.mark.slow  # a whole program
def test_errors_are_written_for_every_group_and_constants_beside_them(tmp_path):
    out = tmp_path / "expected_accuracy.csv"
    command = [sys.executable, str(SCRIPT), "--datasets", "iris", "sonar", "--draws", "1", "--out", str(out)]
    subprocess.run(command, check=True, timeout=300, stdout=subprocess.DEVNULL)
    rows = rows_of(out)
    assert [(row["collection"], row["labels"]) for row in rows] == [
        *(("paper", f"{share}%") for share in (1, 2, 5, 10)),
        ("paper", "all"),
        ("all", "all"),
    ]
    for row in rows:
        assert (row["sets"], int(row["draws"])) == ("2", 8 if row["labels"] == "all" else 2)
        assert 0.5 < float(row["accuracy"]) <= 1
        assert 0 <= float(row["error_held_out"]) < 1
        assert np.isfinite(float(row["at_first"]))
    assert float(rows[-1]["error_fitted"]) <= float(rows[-1]["error_present"])
    assert "python benchmarks/fit_expected_accuracy.py --datasets iris sonar" in rows[0]["command"]


@pytest.mark.slow  # a whole program
def test_sets_of_a_folder_are_taken_as_well(tmp_path):
    generator = np.random.default_rng(0)
    y = np.arange(60) % 2
    np.savez(tmp_path / "blobs.npz", X=generator.normal(size=(60, 3)) + 3 * y[:, np.newaxis], y=y)
    out = tmp_path / "expected_accuracy.csv"
    arguments = ["--datasets", "iris", "--data", str(tmp_path), "--draws", "1", "--out", str(out)]
    subprocess.run([sys.executable, str(SCRIPT), *arguments], check=True, timeout=300, stdout=subprocess.DEVNULL)
    assert {row["collection"] for row in rows_of(out)} == {"paper", "folder", "all"}
