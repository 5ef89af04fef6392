"""The names that types have in model files: they stay when a class moves to another module.

A type that a model can hold is listed here, under one of three kinds. Kernels and estimators are found by themselves;
a type of the package that is neither gets a line in ``_STATE_TYPES``, whose key must never change afterwards.
"""

import sys
from collections.abc import Mapping
from enum import Enum
from typing import Any

import semikpca
from semikpca import blending, problem
from semikpca.convexity import ConvexityCertificate
from semikpca.decisions import Reach
from semikpca.kernels import DefaultKernels, LeadingComponents, kernel_classes
from semikpca.labels import LabelCoding
from semikpca.losses import LogCosh, PseudoHuber, Squared
from semikpca.solvers import Status
from semikpca.spectrum import Spectrum
from semikpca.tables import EncoderIdentity, TableToNumbers
from semikpca.targets import TargetValues


class Kind(Enum):
    """What a registered type is; the value stands in files where skops writes the name of a module."""

    KERNEL = "semikpca kernel"
    ESTIMATOR = "semikpca estimator"
    STATE = "semikpca state"


_STATE_TYPES: Mapping[str, type] = {
    "AccuracyEvidence": blending.AccuracyEvidence,
    "Blend": blending.Blend,
    "BlendSettings": blending.BlendSettings,
    "Columns": blending.Columns,
    "ConvexityCertificate": ConvexityCertificate,
    "DefaultKernels": DefaultKernels,
    "DualSolution": problem.DualSolution,
    "EncoderIdentity": EncoderIdentity,
    "Expansion": problem.Expansion,
    "LSSVMFacts": problem.LSSVMFacts,
    "LSSVMProblem": problem.LSSVMProblem,
    "LabelCoding": LabelCoding,
    "LeadingComponents": LeadingComponents,
    "LocalFit": problem.LocalFit,
    "LogCosh": LogCosh,
    "NeighborAgreement": blending.NeighborAgreement,
    "NonlinearFit": problem.NonlinearFit,
    "Part": blending.Part,
    "PlainSource": blending.PlainSource,
    "PseudoHuber": PseudoHuber,
    "Reach": Reach,
    "RemovedComponents": problem.RemovedComponents,
    "ResponseSource": blending.ResponseSource,
    "RowStructure": blending.RowStructure,
    "SemiKPCAFacts": problem.SemiKPCAFacts,
    "SemiKPCAProblem": problem.SemiKPCAProblem,
    "Spectrum": Spectrum,
    "Squared": Squared,
    "Status": Status,
    "TableToNumbers": TableToNumbers,
    "TargetValues": TargetValues,
    "Total": blending.Total,
    "ValueBlend": blending.ValueBlend,
    "ValuePart": blending.ValuePart,
    "ValueScale": blending.ValueScale,
}

# Types of other packages that a model may hold, beside NumPy's and scikit-learn's own that skops always lets through.
# They go by the names that skops gives them; those of skrub are the steps of ``TableToNumbers``.
FOREIGN_TYPES = (
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    "skrub._clean_categories.CleanCategories",
    "skrub._clean_null_strings.CleanNullStrings",
    "skrub._datetime_encoder.DatetimeEncoder",
    "skrub._drop_uninformative.DropUninformative",
    "skrub._string_encoder.StringEncoder",
    "skrub._to_datetime.ToDatetime",
    "skrub._to_str.ToStr",
)


def registered_types() -> dict[tuple[Kind, str], type]:
    """Return all types of the package, and all kernels of others, that a model may hold; by kind and name.

    A class inside a function is left out: nobody can find it again.
    """
    kernels: Mapping[str, type] = {name: found for name, found in kernel_classes().items() if _is_in_module(found)}
    estimators: Mapping[str, Any] = {name: getattr(semikpca, name) for name in semikpca.__all__}
    kinds = {Kind.KERNEL: kernels, Kind.ESTIMATOR: estimators, Kind.STATE: _STATE_TYPES}
    return {(kind, name): found for kind, types in kinds.items() for name, found in types.items()}


def _is_in_module(found: type) -> bool:
    return getattr(sys.modules.get(found.__module__), found.__name__, None) is found
