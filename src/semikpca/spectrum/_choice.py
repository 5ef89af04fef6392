"""Which method computes leading eigenpairs: one table."""

from enum import Enum

from semikpca.operators import OperatorFacts

# Up to this many rows LAPACK's whole spectrum costs less than a few dozen products.
SMALL = 300
# Columns in a block beyond the wanted eigenpairs. The eigenvalues behind them set the rate of convergence.
GUARD_COLUMNS = 6
# A product that costs at most this share of a dense one is cheap: many products are then better than few.
_CHEAP = 0.2


class Method(Enum):
    """How leading eigenpairs are computed."""

    KNOWN = "the operator knows them"
    LAPACK = "the whole spectrum of the dense matrix"
    FEW_PRODUCTS = "block Krylov, wide blocks, begins with the columns that are solved for afterwards"
    FILTER = "subspace iteration with a Chebyshev filter: many products, few orthogonalizations"
    KRYLOV = "block Krylov"


def choose_method(facts: OperatorFacts, n: int, m: int, n_known: int) -> Method:
    """Return the method for m leading eigenpairs of an n × n matrix, of which the operator knows ``n_known``.

    It is that of the first rule that applies.
    """
    if 0 < m == n_known:
        return Method.KNOWN
    if n <= max(SMALL, 6 * (m + GUARD_COLUMNS)):
        return Method.LAPACK
    if not facts.is_stored:
        return Method.FEW_PRODUCTS
    if facts.product_cost < _CHEAP * float(n) ** 2 or not facts.can_be_dense:
        return Method.FILTER
    return Method.KRYLOV
