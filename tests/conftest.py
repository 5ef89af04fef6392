"""Small data sets that many tests share, each from its own fixed seed; read-only, so that no test can spoil them."""

import numpy as np
import pytest

# Its assertions explain themselves as those of test files do.
pytest.register_assert_rewrite("kernel_contract")


@pytest.fixture
def rng():
    """A generator with a fixed seed, the same for every test."""
    return np.random.default_rng(20170)


@pytest.fixture(scope="session")
def code_folder(tmp_path_factory):
    """Where compiled programs are kept: one folder for all tests, so that each program is compiled once."""
    return tmp_path_factory.mktemp("code")


@pytest.fixture
def with_programs(monkeypatch, code_folder):
    """Let compiled programs make all blocks that they can make, also of small matrices."""
    pytest.importorskip("llvmlite")
    monkeypatch.setenv("SEMIKPCA_CACHE_DIR", str(code_folder))
    monkeypatch.delenv("SEMIKPCA_FAST", raising=False)
    monkeypatch.setattr("semikpca.kernels.compiled._tiles.FEWEST_ENTRIES", 0)


def _clusters(generator, n_samples, centers, spread, n_features):
    truth = np.arange(n_samples) % len(centers)
    generator.shuffle(truth)
    # Features of different scales keep the eigenvalues of the kernel apart, so that every cut is well defined.
    scales = np.linspace(1.0, 0.3, n_features)
    X = np.zeros((n_samples, n_features))
    X[:, : centers.shape[1]] = centers[truth]
    return X + spread * scales * generator.standard_normal((n_samples, n_features)), truth


def _frozen(*arrays):
    for array in arrays:
        array.setflags(write=False)
    return arrays


def _keep_labels(generator, truth, n_each):
    y = np.full(len(truth), -1)  # unlabeled
    for label in np.unique(truth):
        rows = generator.choice(np.flatnonzero(truth == label), n_each, replace=False)
        y[rows] = label
    return y


@pytest.fixture(scope="session")
def two_classes():
    """60 overlapping rows with 8 features, 6 labels of each of two classes: X, y."""
    generator = np.random.default_rng(1)
    X, truth = _clusters(generator, 60, np.array([[-1.0, 0.0], [1.0, 0.5]]), 1.0, 8)
    return _frozen(X, _keep_labels(generator, truth, 6))


@pytest.fixture(scope="session")
def five_classes():
    """75 overlapping rows with 8 features, 3 labels of each of five classes: X, y."""
    generator = np.random.default_rng(2)
    centers = np.array([[0.0, 0.0, 0.0], [2.5, 0.0, 1.0], [0.0, 3.0, 0.0], [-3.0, 0.5, 1.5], [0.5, -2.0, -2.5]])
    X, truth = _clusters(generator, 75, centers, 1.0, 8)
    return _frozen(X, _keep_labels(generator, truth, 3))


@pytest.fixture(params=["two classes", "five classes"])
def data(request):
    """Each of the two above: X, y."""
    return request.getfixturevalue(request.param.replace(" ", "_"))


@pytest.fixture(scope="session")
def clear_clusters():
    """Four clusters of 20 rows far apart, on a plane: X, and the cluster of each row."""
    generator = np.random.default_rng(3)
    centers = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 10.0], [11.0, 11.0]])
    cluster = np.repeat(np.arange(4), 20)
    return _frozen(centers[cluster] + generator.standard_normal((80, 2)), cluster)
