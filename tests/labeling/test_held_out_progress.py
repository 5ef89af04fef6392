"""Labels that are held out fold by fold: how far it is, and where there are none."""

import pytest

from semikpca import SemiKPCAClassifierCV
from semikpca.labeling import Acceptance, held_out


@pytest.fixture(scope="module")
def model(two_classes):
    X, y = two_classes
    return SemiKPCAClassifierCV().fit(X, y)


def test_progress_is_told_before_each_fit(model):
    steps = []
    held_out(model, progress=lambda step, done, total: steps.append((done, total)))
    assert steps == [(number, 12) for number in range(12)]


def test_an_error_in_progress_ends_the_work(model):
    def stop(step, done, total):
        raise InterruptedError(step)

    with pytest.raises(InterruptedError):
        Acceptance.of(model, progress=stop)


def test_without_a_drawn_label_nothing_is_held_out_and_nothing_is_accepted(model):
    assert len(held_out(model, []).rows) == 0
    found = Acceptance.of(model, []).accepted(0.05)
    assert len(found.rows) == 0
    assert found.n_labels_needed >= 45  # log(0.1) / log(0.95)
