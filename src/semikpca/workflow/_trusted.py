"""The types that a model file may hold, beside NumPy's and scikit-learn's own that skops always lets through."""

from semikpca.tables import TRUSTED_TYPES as TABLE_TYPES

# One entry for each type that a labeled table can bring into a file; a test saves every kind of model and finds no
# other. Anything else, and any function, is refused before it is made.
TRUSTED_TYPES = (
    "scipy.sparse._csr.csr_array",
    "semikpca.blending._agreement.NeighborAgreement",
    "semikpca.convexity.ConvexityCertificate",
    "semikpca.decisions._reach.Reach",
    "semikpca.estimators._semi_kpca_cv.SemiKPCAClassifierCV",
    "semikpca.blending._sources.Expansion",
    "semikpca.blending._sources.PlainSource",
    "semikpca.blending._sources.ResponseSource",
    "semikpca.kernels._graph.NeighborGraph",
    "semikpca.kernels._normalized.Normalized",
    "semikpca.kernels._pairwise.Cosine",
    "semikpca.kernels._pairwise.Laplacian",
    "semikpca.kernels._pairwise.Linear",
    "semikpca.kernels._pairwise.Polynomial",
    "semikpca.kernels._pairwise.RBF",
    "semikpca.labels.LabelCoding",
    *TABLE_TYPES,
)
