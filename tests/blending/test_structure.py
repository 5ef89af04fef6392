"""What labelings are held against: separation by densities of normal distributions, components by NumPy."""

import numpy as np
import pytest
from scipy import sparse

from blending_oracles import neighbor_pairs, separation, whitened, whitened_by_kernel
from oracles import large_rbf
from semikpca import SemiKPCAClassifierCV
from semikpca.blending import NeighborAgreement, PlainSource, RowStructure, structures_of
from semikpca.kernels import (
    RBF,
    CallableKernel,
    DefaultKernels,
    Laplacian,
    Linear,
    NeighborGraph,
    OnColumns,
    Precomputed,
)

ROUNDING = 1e-10  # sums of a few thousand numbers

NO_LINKS = NeighborAgreement(sparse.csr_array((1, 1)))


def structure(components):
    return RowStructure.around(NO_LINKS, np.asarray(components, dtype=float))


def standardized(components):
    return (components - components.mean(axis=0)) / components.std(axis=0)


def same_space(found, wanted):
    """Whether columns span the same space with the same inner products: components have no sign, nor an order."""
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=1e-7 * len(wanted))


# -- separation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [1, 2, 3, 7])
@pytest.mark.parametrize("n_components", [1, 2, 20])
def test_separation_is_what_densities_of_normal_distributions_save(rng, n_classes, n_components):
    for strength in (0.0, 0.3, 1.0, 4.0):
        codes = rng.integers(n_classes, size=80)
        components = rng.normal(size=(80, n_components)) + strength * rng.normal(size=(n_classes, n_components))[codes]
        found = structure(components).separation(codes, n_classes)
        assert found == pytest.approx(separation(standardized(components), codes, n_classes), abs=ROUNDING)


def test_the_oracle_knows_what_densities_of_rows_save(rng):
    """Without shrinking and clipping, −log of densities of the rows themselves, added up, differ by the same."""
    codes = np.repeat([0, 1], 5_000)  # so many that five rows more make no difference
    components = standardized(rng.normal(size=(10_000, 2)) * [1, 1] + np.array([[0, 0], [1.5, 0.5]])[codes])

    def cost(values, mean, deviation):
        return np.sum(np.log(deviation) + 0.5 * np.log(2 * np.pi) + (values - mean) ** 2 / (2 * deviation**2))

    saved = cost(components, 0.0, np.ones(2)) / 10_000 - np.log(2)
    for code in (0, 1):
        own = components[codes == code]
        saved -= cost(own, own.mean(axis=0), own.std(axis=0)) / 10_000
    assert separation(components, codes, 2) == pytest.approx(saved, abs=1e-3)


@pytest.mark.parametrize("sizes", [(1, 79), (3, 77), (1, 1, 78)], ids=str)
def test_a_few_rows_in_one_place_are_no_narrow_class(rng, sizes):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    components = rng.normal(size=(80, 20))
    components[codes == 0] = 0.0  # as narrow as can be
    found = structure(components).separation(codes, len(sizes))
    assert found == pytest.approx(separation(standardized(components), codes, len(sizes)), abs=ROUNDING)
    # A class of m rows counts as five more that spread: it saves ½ log((m + 5)/5) a component and a row at most.
    m = sizes[0]
    assert found <= m / 80 * 20 * 0.5 * np.log((m + 5) / 5) + 0.05


def test_a_column_of_two_values_saves_what_it_costs_to_tell_them_apart():
    codes = np.repeat([0, 1], 2_000)
    both_halves = structure(codes[:, np.newaxis]).separation(codes, 2)
    # log 2 is saved, log 2 is the entropy.
    assert both_halves == pytest.approx(0, abs=ROUNDING)
    rare = np.repeat([0, 1], [3_900, 100])
    found = structure(rare[:, np.newaxis]).separation(rare, 2)
    entropy = -(0.975 * np.log(0.975) + 0.025 * np.log(0.025))
    assert found == pytest.approx(np.log(2) - entropy, abs=ROUNDING)


@pytest.mark.parametrize("n_components", [1, 2, 4])
def test_no_component_saves_more_than_log_2(n_components):
    codes = np.repeat([0, 1], 2_000)
    columns = np.repeat(codes[:, np.newaxis], n_components, axis=1)
    found = structure(columns).separation(codes, 2)
    assert found == pytest.approx(n_components * np.log(2) - np.log(2), abs=ROUNDING)


def test_clear_clusters_are_separated_and_halves_of_a_cloud_are_not(clear_clusters, rng):
    X, cluster = clear_clusters
    # Two classes that lie apart along one component save log 2 there at the most, which is what telling them costs.
    assert -0.2 < structure(whitened(X)).separation(cluster // 2, 2) <= 0
    wide = np.array([[0, 0, 0], [9, 0, 0], [0, 9, 0], [0, 0, 9]])[cluster] + rng.normal(size=(80, 3))
    assert structure(whitened(wide)).separation(cluster, 4) > 0.3
    cloud = rng.normal(size=(400, 3))
    for direction in np.eye(3):
        assert structure(whitened(cloud)).separation((cloud @ direction > 0).astype(int), 2) < -0.1
    assert structure(whitened(cloud)).separation(rng.integers(2, size=400), 2) < -0.6


def test_clusters_are_separated_best_by_their_own_labels(clear_clusters, rng):
    X, cluster = clear_clusters
    components = structure(whitened(X))
    found = []
    for n_wrong in (0, 3, 10, 40):
        codes = cluster.copy()
        codes[:n_wrong] = rng.integers(4, size=n_wrong)
        found.append(components.separation(codes, 4))
    assert found == sorted(found, reverse=True)


def test_separation_stays_between_its_limits(rng):
    codes = np.arange(600) % 2
    same = np.repeat(codes[:, np.newaxis], 20, axis=1) + 1e-9 * rng.normal(size=(600, 20))
    assert structure(same).separation(codes, 2) == 3.0
    noise = structure(rng.normal(size=(600, 2)))
    assert noise.separation(rng.integers(50, size=600), 50) == -2.0


def test_one_class_everywhere_saves_nothing_and_costs_nothing(rng):
    components = structure(rng.normal(size=(50, 4)))
    for n_classes in (1, 2, 5):
        assert components.separation(np.full(50, n_classes - 1), n_classes) == pytest.approx(0, abs=ROUNDING)


def test_rows_without_components_cost_what_it_takes_to_tell_the_classes():
    codes = np.array([0, 0, 1, 1])
    assert structure(np.zeros((4, 0))).separation(codes, 2) == pytest.approx(-np.log(2), abs=ROUNDING)
    # Columns that do not vary are none.
    assert structure(np.full((4, 3), 0.1)).separation(codes, 2) == pytest.approx(-np.log(2), abs=ROUNDING)


def test_names_of_classes_order_of_rows_and_units_do_not_matter(rng):
    codes = rng.integers(3, size=60)
    components = rng.normal(size=(60, 5)) + np.eye(3, 5)[codes]
    expected = structure(components).separation(codes, 3)
    order = rng.permutation(60)
    assert structure(components[order]).separation(codes[order], 3) == pytest.approx(expected, abs=ROUNDING)
    for renamed, n_classes in ((np.array([2, 0, 1])[codes], 3), (codes, 9), (np.array([7, 1, 4])[codes], 9)):
        assert structure(components).separation(renamed, n_classes) == pytest.approx(expected, abs=ROUNDING)
    small = codes.astype(np.uint8)
    assert structure(components).separation(small, 3) == pytest.approx(expected, abs=ROUNDING)
    for moved in (1e-6 * components, 1e6 * components + 5, components * [1, -1, 2, 3, 1e-3]):
        assert structure(moved).separation(codes, 3) == pytest.approx(expected, abs=1e-9)


# -- structures of sources ---------------------------------------------------------------------------------------


def assert_structure_of_rows(found, rows, codes):
    same_space(found.components, whitened(rows))
    squared = ((rows[:, np.newaxis] - rows) ** 2).sum(axis=2)
    assert links_of(found.neighbors) == set(neighbor_pairs(squared, 10))
    assert found.separation(codes, 3) == pytest.approx(separation(whitened(rows), codes, 3), abs=1e-7)


def links_of(neighbors):
    links = {(int(i), int(j)) for i, j in zip(neighbors.rows, neighbors.columns, strict=True)}
    return links | {(j, i) for i, j in links}


def sources(kernels, rows):
    return [PlainSource(kernel.fit(rows), rows) for kernel in kernels]


@pytest.mark.parametrize("n_features", [5, 30, 120])
def test_rows_are_held_against_their_own_components_and_ten_neighbors(rng, n_features):
    rows = rng.normal(size=(50, n_features)) * np.geomspace(1, 0.1, n_features)
    codes = rng.integers(3, size=50)
    one, other = structures_of(sources([RBF(gamma=0.1), Linear()], rows))
    assert one is other
    assert_structure_of_rows(one, rows, codes)


def test_sparse_rows_are_held_against_what_dense_rows_are(rng):
    rows = rng.normal(size=(50, 30)) * (rng.random(size=(50, 30)) < 0.3)
    codes = rng.integers(3, size=50)
    (found,) = structures_of(sources([Linear()], sparse.csr_array(rows)))
    assert_structure_of_rows(found, rows, codes)


def test_a_view_is_held_against_its_own_columns(rng):
    rows = rng.normal(size=(50, 8)) * np.geomspace(1, 0.1, 8)
    codes = rng.integers(3, size=50)
    # Made by one search, as the default kernels of a view are: they see the same object.
    view = DefaultKernels([1, 2, 3]).fit(rows)
    found = structures_of([*sources([Linear()], rows), *(PlainSource(kernel, rows) for kernel in view.plain)])
    assert len({id(one) for one in found}) == 2
    assert_structure_of_rows(found[0], rows, codes)
    assert_structure_of_rows(found[1], rows[:, [1, 2, 3]], codes)
    assert found[1] is found[2]


def test_a_kernel_on_columns_is_held_against_these(rng):
    rows = rng.normal(size=(40, 6)) * np.geomspace(1, 0.1, 6)
    (found,) = structures_of(sources([OnColumns(RBF(gamma=1.0), [0, 4])], rows))
    assert_structure_of_rows(found, rows[:, [0, 4]], rng.integers(3, size=40))


@pytest.mark.parametrize("metric", ["euclidean", "mahalanobis", "cosine", "centered cosine"])
@pytest.mark.parametrize("n_neighbors", [5, 10])
def test_what_a_named_graph_has_found_out_changes_nothing(rng, metric, n_neighbors):
    rows = rng.normal(size=(50, 6)) * np.geomspace(1, 0.1, 6) + 1
    graph = NeighborGraph(n_neighbors, metric=metric)
    (found,) = structures_of(sources([graph], rows))
    assert_structure_of_rows(found, rows, rng.integers(3, size=50))


def test_what_is_known_is_not_looked_for_again(rng, monkeypatch):
    rows = rng.normal(size=(50, 6))
    graphs = sources([NeighborGraph(10), NeighborGraph(7, metric="mahalanobis"), RBF()], rows)
    monkeypatch.setattr("semikpca.blending._structure.LeadingComponents.of", lambda part: pytest.fail("known"))
    monkeypatch.setattr("semikpca.blending._structure.NeighborGraph.fit", lambda graph, part: pytest.fail("known"))
    structures_of(graphs)


@pytest.mark.parametrize("n", [15, 60, 850])
def test_a_given_matrix_is_held_against_its_kernel_components(rng, n):
    rows = rng.normal(size=(n, 40))
    K = large_rbf(rows, rows, 0.01)
    codes = rng.integers(3, size=n)
    (found,) = structures_of(sources([Precomputed()], K))
    wanted = whitened_by_kernel(K)
    assert wanted.shape == (n, min(20, n - 1))
    same_space(found.components, wanted)
    assert found.separation(codes, 3) == pytest.approx(separation(wanted, codes, 3), abs=1e-7)
    assert links_of(found.neighbors) == set(neighbor_pairs(2 - 2 * K, 10))


def test_inner_products_have_the_components_of_their_rows(rng):
    rows = rng.normal(size=(60, 7))
    (found,) = structures_of(sources([Precomputed()], rows @ rows.T))
    same_space(found.components, whitened(rows))


WORDS = [first + middle + last for first in "abcd" for middle in "aeiou" for last in "klm"]


def shared_letters(a, b):
    return float(len(set(a) & set(b))) + float(a == b)


def test_objects_are_held_against_the_kernel_components_of_their_function(rng):
    K = np.array([[shared_letters(a, b) for b in WORDS] for a in WORDS])
    (found,) = structures_of(sources([CallableKernel(shared_letters)], WORDS))
    codes = rng.integers(3, size=len(WORDS))
    # The cut at 20 components goes through a space of equal eigenvalues; those above it are all that is sure.
    values = np.linalg.eigvalsh(K - K.mean(axis=0) - K.mean(axis=1)[:, np.newaxis] + K.mean())[::-1]
    sure = int(np.sum(values[:20] > values[20] + 1e-9))
    assert found.components.shape == (60, 20)
    wanted = whitened_by_kernel(K)[:, :sure]
    np.testing.assert_allclose(found.components @ (found.components.T @ wanted) / 60, wanted, atol=1e-7)
    assert np.isfinite(found.separation(codes, 3))


@pytest.mark.parametrize(
    "K", [np.ones((30, 30)), np.full((30, 30), 0.1), np.full((900, 900), 0.1)], ids=["1", ".1", "900"]
)
def test_a_matrix_that_tells_no_rows_apart_has_no_components(K):
    assert structure_of_matrix(K).components.shape == (len(K), 0)


def structure_of_matrix(K):
    return structures_of(sources([Precomputed()], K))[0]


def test_one_factor_of_low_rank_has_as_many_components():
    rows = np.random.default_rng(0).normal(size=(900, 2))
    found = structure_of_matrix(rows @ rows.T)
    same_space(found.components, whitened(rows))


def test_the_structures_of_a_blend_are_those_of_its_sources(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifierCV([Laplacian(), OnColumns("rbf", [0, 1, 2]), Linear()]).fit(X, y)
    blend = model.blend_
    for source, found in zip(blend.sources, blend.structures, strict=True):
        same_space(found.components, whitened(source.kernel.seen(X)))
    assert len({id(found) for found in blend.structures}) == 2
