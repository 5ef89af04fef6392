"""A kernel matrix known by a sparse factor."""

from dataclasses import replace
from threading import Lock

import numpy as np
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee

from semikpca._typing import FloatArray, IntArray
from semikpca.kernels import SparseFactor
from semikpca.operators._base import KernelOperator, KnownSpectrum, Storage

# Where a method asks for the dense matrix, it is made for up to this many rows: 800 MB.
_MOST_DENSE_ROWS = 10_000
# To fetch a number from anywhere in memory takes as long as this many multiplications of a dense product.
_SPARSE_COST = 10
# Up to this many rows a block of columns stays in a cache, whatever the order of its rows.
_ROWS_IN_CACHE = 5_000


class SparseOperator(KernelOperator):
    """K = damping · S² + (1 − damping) v vᵀ with a sparse S: a product with K is two with S.

    The factor is S, v and the damping; for ``is_estimate`` see OperatorFacts.
    """

    def __init__(self, factor: SparseFactor, is_estimate: bool = False) -> None:
        super().__init__(factor.matrix.shape[0], factor.matrix.dtype)
        self.factor = factor
        self._counting = Lock()
        self._ordered = factor.matrix
        self._orders: tuple[IntArray, IntArray] | None = None  # of the rows, there and back
        if self.n > _ROWS_IN_CACHE:
            # In this order linked rows are close in memory, and products up to twice as fast.
            there = reverse_cuthill_mckee(factor.matrix, symmetric_mode=True).astype(np.intp)
            self._orders = there, np.argsort(there)
            self._ordered = factor.matrix[there][:, there]
        self.facts = replace(
            self.facts,
            storage=Storage.SPARSE_FACTOR,
            product_cost=float(2 * _SPARSE_COST * factor.matrix.nnz),
            can_be_dense=self.n <= _MOST_DENSE_ROWS,
            uses_one_core=True,  # SciPy's sparse products are not threaded
            is_estimate=is_estimate,
        )

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return the product with ``block``."""
        v, damping = self.factor.vector, self.dtype.type(self.factor.damping)
        product = self.product_beside_known(block)
        product += v[:, np.newaxis] * ((1 - damping) * (v @ block))
        return product

    def product_beside_known(self, block: FloatArray) -> FloatArray:
        """Return damping · S² @ block, which is the whole product where the block is orthogonal to v."""
        with self._counting:  # several threads solve for a few columns each
            self.log.n_products += 1
        S = self._ordered
        if self._orders is None:
            product = S @ (S @ block)
        else:
            there, back = self._orders
            product = (S @ (S @ block.take(there, axis=0))).take(back, axis=0)
        product *= self.dtype.type(self.factor.damping)
        return np.asarray(product)

    def diag(self) -> FloatArray:
        """Return the diagonal."""
        S, v, damping = self.factor.matrix, self.factor.vector, self.dtype.type(self.factor.damping)
        return np.asarray(damping * S.multiply(S).sum(axis=1) + (1 - damping) * v**2)

    def to_dense(self) -> FloatArray:
        """Return the whole matrix, unless it is too large."""
        if not self.facts.can_be_dense:
            raise self.too_large(
                f"of a neighbor graph it is made for up to {_MOST_DENSE_ROWS:,} rows. Ask for fewer eigenpairs, use "
                "fewer rows, or backend='dense' to have it anyway."
            )
        S, v, damping = self.factor.matrix, self.factor.vector, self.dtype.type(self.factor.damping)
        matrix = (S @ S).toarray()
        matrix *= damping
        matrix += np.outer((1 - damping) * v, v)
        return np.asarray(matrix)

    @property
    def nbytes(self) -> int:
        """S and v; for many rows S once more in another order, and the order."""
        S, v = self.factor.matrix, self.factor.vector
        once = int(S.data.nbytes + S.indices.nbytes + S.indptr.nbytes)
        ordered = 0 if self._orders is None else once + sum(order.nbytes for order in self._orders)
        return once + ordered + v.nbytes

    def known_spectrum(self, m: int) -> KnownSpectrum:
        """Return v, whose eigenvalue is 1, and an eigenvector of eigenvalue ``damping`` for each further piece.

        Pieces are those of the graph; no other eigenvalue is larger than ``damping``.
        """
        v, damping = self.factor.vector, self.factor.damping
        n_pieces, pieces = connected_components(self.factor.matrix, directed=False)
        # v restricted to a piece is an eigenvector of S with eigenvalue 1 again. With w the lengths of these parts, the
        # reflection that takes the first of them to v takes the others to vectors orthogonal to v.
        w = np.sqrt(np.bincount(pieces, weights=v.astype(np.float64) ** 2))
        order = np.argsort(-w, kind="stable")[: min(m, n_pieces)]
        z = -w
        z[order[0]] += 1
        reflected = np.zeros((n_pieces, len(order)))
        reflected[order, np.arange(len(order))] = 1
        if n_pieces > 1:
            reflected -= np.outer(z, z[order] / (1 - w[order[0]]))
        vectors = (v / w[pieces])[:, np.newaxis] * reflected[pieces]
        vectors[:, 0] = v
        eigenvalues = np.full(len(order), damping)
        eigenvalues[0] = 1
        return KnownSpectrum(eigenvalues.astype(self.dtype), vectors.astype(self.dtype), damping)
