"""How well labelings agree with neighborhoods, against scikit-learn's mutual information."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import mutual_info_score

from semikpca.blending import NeighborAgreement
from semikpca.kernels import NeighborGraph

ROUNDING = 1e-12  # sums of at most a few hundred logarithms


def random_links(rng, n=30, n_links=120, symmetric=True):
    ends = rng.integers(n, size=(2, n_links))
    matrix = sparse.csr_array((np.ones(n_links), tuple(ends)), shape=(n, n))
    return matrix + matrix.T if symmetric else matrix


def link_ends(matrix):
    dense = matrix.toarray()
    return [(i, j) for i in range(len(dense)) for j in range(len(dense)) if i != j and dense[i, j] > 0]


def entropy(labels):
    shares = [labels.count(label) / len(labels) for label in set(labels)]
    return -sum(share * np.log(share) for share in shares)


# With 25 classes there are more pairs of classes than links.
@pytest.mark.parametrize("n_classes", [2, 3, 10, 25])
@pytest.mark.parametrize("symmetric", [True, False])
def test_relative_information_is_the_mutual_information_of_link_ends_over_their_entropy(rng, n_classes, symmetric):
    matrix = random_links(rng, symmetric=symmetric)
    codes = rng.integers(n_classes, size=30)
    ends = link_ends(matrix)

    found = NeighborAgreement(matrix).relative_information(codes, n_classes)

    told = mutual_info_score([codes[i] for i, _ in ends], [codes[j] for _, j in ends])
    assert found == pytest.approx(told / entropy([int(codes[i]) for i, _ in ends]), abs=ROUNDING)
    assert found > 0.001


def test_relative_information_stays_between_nothing_and_all(rng):
    agreement = NeighborAgreement(random_links(rng))
    for _ in range(50):
        n_classes = int(rng.integers(2, 6))
        codes = rng.integers(n_classes, size=30)
        assert -ROUNDING <= agreement.relative_information(codes, n_classes) <= 1 + ROUNDING


def test_of_one_class_everywhere_there_is_nothing_to_know(rng):
    agreement = NeighborAgreement(random_links(rng))
    for n_classes in (1, 2, 7):
        codes = np.full(30, n_classes - 1)
        assert agreement.relative_information(codes, n_classes) == 0


def test_classes_that_no_link_leaves_tell_all_there_is(clear_clusters):
    X, cluster = clear_clusters
    agreement = NeighborAgreement(NeighborGraph(n_neighbors=5).fit(X).matrix_)
    assert agreement.relative_information(cluster, 4) == pytest.approx(1, abs=ROUNDING)


def test_labels_at_random_tell_little(clear_clusters, rng):
    X, cluster = clear_clusters
    agreement = NeighborAgreement(NeighborGraph(n_neighbors=10).fit(X).matrix_)

    shuffled = rng.permutation(cluster)

    # 80 rows with about 1000 links: (4 - 1)² / (2 · 1000 / 2) nats by chance.
    assert agreement.relative_information(shuffled, 4) < 0.05


def test_fewer_links_across_classes_agree_better(clear_clusters):
    X, cluster = clear_clusters
    agreement = NeighborAgreement(NeighborGraph(n_neighbors=10).fit(X).matrix_)
    found = []
    for n_wrong in (0, 2, 5, 10):
        codes = cluster.copy()
        codes[:n_wrong] = 1
        found.append(agreement.relative_information(codes, 4))
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 4


def test_names_of_classes_and_classes_that_do_not_occur_do_not_matter(rng):
    agreement = NeighborAgreement(random_links(rng))
    codes = rng.integers(3, size=30)
    expected = agreement.relative_information(codes, 3)
    for renamed, n_classes in ((np.array([2, 0, 1])[codes], 3), (codes, 8), (np.array([7, 1, 4])[codes], 8)):
        assert agreement.relative_information(renamed, n_classes) == pytest.approx(expected, abs=ROUNDING)


def test_only_positive_entries_beside_the_diagonal_are_links():
    matrix = sparse.coo_array(
        (np.array([1.0, 0.0, -1.0, 0.2, 0.2]), (np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 2, 1]))), shape=(3, 3)
    )
    agreement = NeighborAgreement(matrix)
    assert {frozenset(link) for link in zip(agreement.rows, agreement.columns, strict=True)} == {frozenset((1, 2))}


def test_the_weight_of_a_link_does_not_count(rng):
    matrix = random_links(rng)
    weighted = matrix.copy()
    weighted.data = rng.uniform(1e-6, 1.0, size=len(weighted.data))
    codes = rng.integers(3, size=30)
    assert NeighborAgreement(weighted).relative_information(codes, 3) == NeighborAgreement(matrix).relative_information(
        codes, 3
    )


def test_no_links_tell_nothing():
    agreement = NeighborAgreement(sparse.csr_array((4, 4)))
    codes = np.array([0, 1, 0, 1])
    assert agreement.relative_information(codes, 2) == 0


def test_a_hundred_thousand_classes_take_no_more_memory_than_the_links(rng):
    matrix, codes = random_links(rng), rng.integers(100_000, size=30)
    found = NeighborAgreement(matrix).relative_information(codes, 100_000)  # 80 GB as a matrix
    few = NeighborAgreement(matrix).relative_information(np.unique(codes, return_inverse=True)[1], 30)
    assert found == pytest.approx(few, abs=ROUNDING)
