"""One small cluster for all tests of this folder: two worker processes with a thread each.

It starts when the first test asks for it. Every test has a client of its own, so that none is left for tests that are
about its absence.
"""

import pytest

dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'semikpca[dask]'")
distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'semikpca[dask]'")


@pytest.fixture(scope="session")
def cluster():
    """Two worker processes on this computer."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """The current client of that cluster, for one test."""
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def own_cluster():
    """Return a function that starts a cluster to be broken, and its client; both are closed after the test."""
    opened = []

    def start(n_workers=2, config=None, **options):
        # What distributed says of workers that die is of no use here.
        settings = {"distributed.logging": {"distributed": "critical"}, **(config or {})}
        context = dask.config.set(settings)
        opened.append(lambda: context.__exit__(None, None, None))
        cluster = distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", **options
        )
        opened.append(cluster.close)
        client = distributed.Client(cluster)
        opened.append(client.close)
        return client

    yield start
    for close in reversed(opened):
        close()
