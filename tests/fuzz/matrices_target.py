"""Any matrix at all as a precomputed kernel: the system of the paper is solved, or a refusal is true."""

import numpy as np

from fuzz.judging import REFUSALS, Choices, no_warnings, refusal
from oracles import eigenpairs
from semikpca import SemiKPCAClassifier
from semikpca.exceptions import IndefiniteKernelError, KernelRankError, UnboundedProblemError

MOST_ROWS = 9
WEIGHTS = ["middle", 0.5, 0.9, 0.01, 0.999, 1 - 1e-9, 1e-12, 1 - 1e-16, 1.0, 2.0, 0.0, -1.0, np.nan, 1e-320]
SCALES = [1.0, 1e-8, 1e8, 1e-150, 1e150, 1e-300, 1e300, 1e-310, 5e-324, 1e-40, 1e38]
ODD = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0, 1e-16, 1 + 2**-52]
FORMS = ["product", "symmetric", "as it is", "low rank", "repeated", "nearly symmetric", "constant", "one entry odd"]

# The solves leave a relative residual of 1e-12; a hundred times that is granted.
SOLVED = 1e-10
# Rounding in a few sums over at most nine rows.
ROUNDINGS = 200
# Eigenvalues below half of the digits of the largest count as rounding: they are neither rank nor a sign.
HALF_OF_THE_DIGITS = 10.0


def decoded(data):
    """Return a matrix, labels, the number of components to remove and a weight, from bytes."""
    choices = Choices(data)
    n, k, weight = 2 + choices.number(MOST_ROWS - 1), choices.number(4), choices.one_of(WEIGHTS)
    scale, form, single = choices.one_of(SCALES), choices.one_of(FORMS), choices.number(4) == 3
    y = np.array([choices.one_of([0, 1, -1, 2, 1, 0]) for _ in range(n)])
    y[:2] = 0, 1
    entries = np.array([choices.number(256) - 128.0 for _ in range(n * n)]).reshape(n, n) / 16
    return matrix(entries, scale, form, single, choices), y, k, weight


def matrix(entries, scale, form, single, choices):
    """Return a matrix of some form that is made of these entries."""
    n = len(entries)
    with np.errstate(all="ignore"):
        if form == "low rank":
            entries[:, 1 + choices.number(n) :] = 0
        if form in ("product", "low rank"):
            K = entries @ entries.T
        elif form == "repeated":
            vectors = np.linalg.qr(entries + np.eye(n))[0]
            K = vectors @ np.diag(np.repeat([4.0, 2.0, 1.0], -(-n // 3))[:n]) @ vectors.T
            K = (K + K.T) / 2
        elif form == "constant":
            K = np.full((n, n), entries[0, 0])
        else:
            K = entries if form == "as it is" else entries + entries.T
        if form == "nearly symmetric":
            K = entries @ entries.T * (1 + 1e-9 * entries)
        if form == "one entry odd":
            i, j = choices.number(n), choices.number(n)
            K[i, j] = K[j, i] = choices.one_of(ODD)
        return (K * scale).astype(np.float32 if single else np.float64)


def judge(data):
    """Return how a fit ends with the matrix that the bytes stand for."""
    return judged(*decoded(data))


def judged(K, y, k, weight):
    """Return "answered" or the message of the refusal; raise where the answer is wrong or the refusal untrue."""
    model = SemiKPCAClassifier("precomputed", n_components_removed=k, error_weight=weight)
    before = K.copy()
    try:
        with no_warnings():
            model.fit(K, y)
            again = model.decision_function(K)
    except REFUSALS as error:
        _hold_to_its_word(error, K, k, weight)
        return refusal(error)
    assert np.array_equal(K, before, equal_nan=True), "the matrix of the caller was changed"
    _hold_to_the_paper(model, K, y, again)
    return "answered"


def _hold_to_its_word(error, K, k, weight):
    """Hold what a refusal says against the eigenvalues."""
    if isinstance(error, UnboundedProblemError):
        assert weight >= 1, "a weight below the bound was refused"
    if isinstance(error, IndefiniteKernelError | KernelRankError):
        scaled, size = _scaled(K)
        values = eigenpairs(scaled)[0]
        if isinstance(error, IndefiniteKernelError):
            assert values[-1] < -_eps(K), "a definite matrix was refused"
            assert np.isclose(error.smallest_eigenvalue, values[-1] * size, rtol=1e-2, atol=0)
        else:
            rest = values[min(k, len(values) - 1)]
            repeated = error.removed > error.requested
            tiny = rest < HALF_OF_THE_DIGITS * np.sqrt(_eps(K)) * values[0]
            assert k >= len(values) or repeated or tiny or values[0] <= 0, f"λ(k+1)/λ1 = {rest / values[0]:.3g}"


def _eps(K):
    return float(np.finfo(np.result_type(K.dtype, np.float32)).eps)


def _scaled(K):
    """Return the symmetric matrix divided by its largest entry, and that entry: no square leaves the range then."""
    K = K.astype(np.float64)
    size = np.abs(K).max()
    # Twice, since 1 / size has no value where size is below the least normal number.
    root = np.sqrt(size) or 1.0
    K = K / root / root
    return (K + K.T) / 2, size


def _hold_to_the_paper(model, K, y, again):
    """Hold α and the decisions to (I/γ − K′) α = y and f = K′ α, with K′ from eigenvectors of our own."""
    certificate, gamma = model.certificate_, float(model.error_weight_)
    removed = certificate.n_components_removed
    scaled, size = _scaled(K)
    values, vectors = eigenpairs(scaled)
    # Of all entries of the scaled matrix, whose two halves may differ.
    rounding = len(K) * np.abs(K / size - K.T / size).max() + ROUNDINGS * np.finfo(K.dtype).eps * values[0]
    assert np.abs(model.eigenvalues_[: removed + 1] / size - values[: removed + 1]).max() <= rounding
    assert 0 < certificate.error_weight < certificate.error_weight_max
    share = gamma * size  # the error weight of the scaled matrix
    assert share * (values[removed] - rounding) < 1, "the weight is beyond the bound"

    targets = _naive_targets(y)
    alpha = model.alpha_.astype(np.float64).reshape(targets.shape) / gamma
    decision = model.decision_.astype(np.float64).reshape(targets.shape)
    V = vectors[:, :removed]
    product = share * (scaled - V @ np.diag(values[:removed]) @ V.T) @ alpha
    # Eigenvectors on the two sides of the cut mix by rounding / gap.
    gap = values[removed - 1] - values[removed] if removed else values[0]
    stored = ROUNDINGS * np.finfo(K.dtype).eps  # α comes in the type of the matrix
    granted = SOLVED + (stored + share * rounding * (1 + values[0] / gap)) * np.abs(alpha).max()
    for what, error in (
        ("(I/γ − K′) α = y", alpha - product - targets),
        ("f = K′ α", decision - product),
        ("f of the same rows again", again.reshape(targets.shape) - decision),
    ):
        assert np.abs(error).max() <= granted, f"{what} is off by {np.abs(error).max():.3g}, granted {granted:.3g}"


def _naive_targets(y):
    classes = sorted(set(y.tolist()) - {-1})
    positives = classes if len(classes) > 2 else classes[-1:]
    return np.array([[0.0 if one == -1 else 1.0 if one == p else -1.0 for p in positives] for one in y.tolist()])
