"""Packages with data that are missing, or not what they were."""

from importlib.metadata import PackageNotFoundError

import pytest

from semikpca.datasets import _packaged


@pytest.fixture
def no_package(monkeypatch):
    """No package is installed."""

    def not_installed(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(_packaged, "distribution", not_installed)


@pytest.fixture
def changed_file(monkeypatch, tmp_path):
    """A function that puts another content into a file of a package."""

    class Elsewhere:
        def locate_file(self, path):
            return tmp_path / path

    def change(path):
        changed = tmp_path / path
        changed.parent.mkdir(parents=True)
        changed.write_text("1,2,3\n")
        monkeypatch.setattr(_packaged, "distribution", lambda name: Elsewhere())

    return change
