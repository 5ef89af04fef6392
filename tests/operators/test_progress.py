"""What a long fit says of itself, and that it says nothing unasked."""

import logging
import re

import numpy as np
import pytest

import semikpca.operators._factory as factory
from semikpca import SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.kernels import RBF, Normalized
from semikpca.labeling import error_weight_path
from semikpca.operators import Progress

LINE = re.compile(
    r"(eigenpairs|solve|path): (\d+) products, residual (\S+) of (\S+), (\S+) s(, about (\S+) s left in this stage)?$"
)


@pytest.fixture
def data():
    rows = np.random.default_rng(0).normal(size=(700, 3))
    y = np.full(700, -1)
    y[:6] = [0, 0, 0, 1, 1, 1]
    return rows, y


def lines(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "semikpca"]


def progress_lines(caplog):
    return [match for line in lines(caplog) if (match := LINE.match(line))]


@pytest.mark.parametrize("kernel", [RBF(0.5), Normalized(RBF(0.5))], ids=["rbf", "normalized"])
def test_a_verbose_fit_says_products_residual_and_time(data, kernel, caplog):
    caplog.set_level(logging.INFO, logger="semikpca")
    model = SemiKPCAClassifier(kernel, error_weight=0.99, backend="blocked", verbose=1).fit(*data)
    said = progress_lines(caplog)
    assert {match[1] for match in said} >= {"eigenpairs"}
    products = [int(match[2]) for match in said]
    assert products == sorted(products)
    assert 1 <= products[0] <= products[-1] <= model.n_products_
    for match in said:
        assert float(match[3]) >= 0
        assert float(match[4]) > 0
        assert float(match[5]) >= 0
    # A residual that falls lets the time left be guessed.
    assert any(match[6] for match in said)
    assert any("solved in" in line for line in lines(caplog))
    assert any("Convexity certificate" in line for line in lines(caplog))


def test_the_products_of_a_sharper_operator_are_counted_on(data, caplog, monkeypatch):
    monkeypatch.setattr(factory, "_FEW_ROWS", 100)
    caplog.set_level(logging.INFO, logger="semikpca")
    model = SemiKPCAClassifier(RBF(0.5), error_weight=0.99, verbose=1).fit(*data)
    products = [int(match[2]) for match in progress_lines(caplog)]
    assert products == sorted(products)
    assert products[-1] <= model.n_products_


def test_a_path_says_how_far_it_is(data, caplog):
    model = SemiKPCAClassifier(RBF(0.5), backend="blocked", verbose=1).fit(*data)
    caplog.set_level(logging.INFO, logger="semikpca")
    caplog.clear()
    error_weight_path(model, 5)
    assert {match[1] for match in progress_lines(caplog)} == {"path"}


def test_lssvm_says_how_far_its_solve_is(data, caplog):
    caplog.set_level(logging.INFO, logger="semikpca")
    SemiLSSVMClassifier(RBF(0.5), backend="blocked", verbose=1).fit(*data)
    assert {match[1] for match in progress_lines(caplog)} == {"solve"}


@pytest.mark.parametrize("backend", ["dense", "blocked"])
def test_nothing_is_said_unasked(data, backend, caplog, capfd):
    caplog.set_level(logging.DEBUG, logger="semikpca")
    model = SemiKPCAClassifier(RBF(0.5), backend=backend).fit(*data)
    error_weight_path(model, 5)
    model.add_labels([10], [0])
    assert lines(caplog) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("verbose", [1, 2])
def test_nothing_is_printed(data, verbose, capfd):
    SemiKPCAClassifier(RBF(0.5), backend="blocked", verbose=verbose).fit(*data)
    assert capfd.readouterr() == ("", "")


# -- the lines themselves --------------------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [100.0]
    monkeypatch.setattr("semikpca.operators._progress.time.monotonic", lambda: now[0])
    return now


def test_time_left_goes_by_the_products_that_are_left(clock):
    said = []
    progress = Progress(said.append)
    clock[0] += 2
    progress.note("solve", 2, 1e-1, 1e-5)  # one second a product; nothing is known of the rate yet
    clock[0] += 2
    progress.note("solve", 4, 1e-3, 1e-5)  # two digits in two products: two digits are left
    clock[0] += 2
    progress.note("solve", 6, 1e-5, 1e-5)
    assert said == [
        "solve: 2 products, residual 1.0e-01 of 1.0e-05, 2.0 s",
        "solve: 4 products, residual 1.0e-03 of 1.0e-05, 4.0 s, about 2.0 s left in this stage",
        "solve: 6 products, residual 1.0e-05 of 1.0e-05, 6.0 s, about 0.0 s left in this stage",
    ]


def test_a_new_stage_begins_with_a_new_rate(clock):
    said = []
    progress = Progress(said.append)
    clock[0] += 1
    progress.note("eigenpairs", 1, 1.0, 1e-6)
    progress.note("eigenpairs", 2, 1e-6, 1e-6)
    progress.note("solve", 3, 1e-2, 1e-6)
    assert "left" not in said[0]
    assert "left" in said[1]
    assert "left" not in said[2]


@pytest.mark.parametrize(("residual", "goal"), [(2.0, 1e-6), (1.0, 1e-6), (0.0, 1e-6), (0.5, 0.0), (np.nan, 1e-6)])
def test_no_time_is_promised_where_none_can_be_known(clock, residual, goal):
    said = []
    progress = Progress(said.append)
    progress.note("solve", 1, 1.0, goal)
    progress.note("solve", 2, residual, goal)
    assert "left" not in said[1]
