"""Models of earlier formats: what their types were called, and what becomes of their state.

A class that is changed so that it can no longer use the state in older files gets a function here, called from that of
its format in ``_MIGRATIONS``; a class that is taken away leaves a ``FormerType`` behind for that function to read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semikpca.blending import (
    NO_COLUMNS,
    Blend,
    BlendSettings,
    NeighborAgreement,
    Part,
    PlainSource,
    ResponseSource,
    RowStructure,
    Source,
    Total,
)
from semikpca.kernels import LeadingComponents, Normalized
from semikpca.problem import Expansion, RemovedComponents, SemiKPCAFacts, SemiKPCAProblem
from semikpca.workflow._registry import Kind

FORMAT_VERSION = 4

# Format 1 had the modules of version 0.1.0 in place of kinds. Such files exist, so nothing here ever changes.
FORMAT_1_NAMES: Mapping[str, tuple[Kind, str]] = {
    "semikpca.blending._agreement.NeighborAgreement": (Kind.STATE, "NeighborAgreement"),
    "semikpca.convexity.ConvexityCertificate": (Kind.STATE, "ConvexityCertificate"),
    "semikpca.estimators._reach.Reach": (Kind.STATE, "Reach"),
    "semikpca.estimators._semi_kpca_cv.SemiKPCAClassifierCV": (Kind.ESTIMATOR, "SemiKPCAClassifierCV"),
    "semikpca.estimators._sources.Expansion": (Kind.STATE, "Expansion of format 1"),
    "semikpca.estimators._sources.PlainSource": (Kind.STATE, "PlainSource of format 1"),
    "semikpca.estimators._sources.ResponseSource": (Kind.STATE, "ResponseSource of format 1"),
    "semikpca.kernels._graph.NeighborGraph": (Kind.KERNEL, "NeighborGraph"),
    "semikpca.kernels._normalized.Normalized": (Kind.KERNEL, "Normalized"),
    "semikpca.kernels._pairwise.Cosine": (Kind.KERNEL, "Cosine"),
    "semikpca.kernels._pairwise.Laplacian": (Kind.KERNEL, "Laplacian"),
    "semikpca.kernels._pairwise.Linear": (Kind.KERNEL, "Linear"),
    "semikpca.kernels._pairwise.Polynomial": (Kind.KERNEL, "Polynomial"),
    "semikpca.kernels._pairwise.RBF": (Kind.KERNEL, "RBF"),
    "semikpca.labels.LabelCoding": (Kind.STATE, "LabelCoding"),
    "semikpca.tables._vectorizer.TableToNumbers": (Kind.STATE, "TableToNumbers"),
}


class FormerType:
    """The attributes of an object whose class is no longer there, as they stand in an older file."""


# What is no longer there, or has other attributes today: where an older file holds it, it becomes a ``FormerType``.
FORMER_NAMES: frozenset[tuple[Kind, str]] = frozenset(
    (Kind.STATE, f"{name} of format 1") for name in ("Expansion", "PlainSource", "ResponseSource")
)


def migrated(objects: Any, format_version: int) -> Any:
    """Return what a file of an earlier format holds with the attributes that the present classes have."""
    for number in range(format_version, FORMAT_VERSION):
        objects = _MIGRATIONS[number](objects)
    return objects


_EIGENPAIR_SHARE = 0.01  # of the tolerance of the solves, to which eigenpairs were found then


def _from_format_1(objects: Any) -> Any:
    """Put a blend in place of the attributes that held its parts, and kernels in place of their texts."""
    state = vars(objects["model"])
    former = state.pop("_sources")
    sources = tuple(_source_from_format_1(source) for source in former)
    for kernel in {id(source.kernel): source.kernel for source in former}.values():
        if isinstance(kernel, Normalized):
            kernel.feature_sums_ = kernel.__dict__.pop("_sums_by_features")  # None: files had no kernels with features
    named = {repr(source.kernel): source.kernel for source in former}
    kernels = state["results_"]["kernel"]
    kernels[:] = [named.get(text, text) for text in kernels]  # a text that scikit-learn writes otherwise today stays
    if state["best_params_"]:
        state["best_params_"]["kernel"] = kernels[state["weights_"].argmax()]
    parts = tuple(
        Part(
            number,
            tuple(settings),
            Expansion(expansion.kernel, expansion.anchors, expansion.coefficients, far_is_zero=True),
            expansion.decision,
        )
        for (number, settings), expansion in zip(state.pop("_settings").items(), state.pop("_expansions"), strict=True)
    )
    state["blend_"] = Blend(
        sources=sources,
        columns=tuple(NO_COLUMNS for _ in sources),
        structures=_structures(sources, (state.pop("_agreement"),) * len(sources)),
        components=state.pop("_components"),
        labels=state["label_coding_"],
        settings=BlendSettings(state["combine"], state["class_prior"]),
        reach=state["reach_"],
        weights=state["weights_"],
        results=state["results_"],
        certificate=state["certificate_"],
        total=Total(parts, state.pop("_constant"), state.pop("_scores"), state.pop("_left_out")),
        offsets=state.pop("_offsets"),
        class_shares=state["class_shares_"],
        accuracy=None,
    )
    return objects


def _source_from_format_1(former: Any) -> Source:
    if getattr(former, "certificate", None) is None:  # it was an attribute of the class
        return PlainSource(former.kernel, former.rows)
    interval = replace(former.certificate, error_weight=None)
    values, vectors = former._removed
    rtol = _EIGENPAIR_SHARE * former._rtol
    k = interval.n_components_removed
    removed = RemovedComponents(k, interval, np.append(values, interval.next_eigenvalue), vectors, rtol)
    problem = SemiKPCAProblem(
        k, former.error_weight, "absolute", former._rtol, former._max_iter, rtol, stored_solve_rtol=former._rtol
    )
    facts = SemiKPCAFacts(removed, former.certificate)
    return ResponseSource(former.kernel, former.rows, former._backend, problem, facts)


# -- format 2 --------------------------------------------------------------------------------------------------


def _from_format_2(objects: Any) -> Any:
    """Give every source the neighborhoods that all of them shared, and say of texts that letters were compared."""
    blend = vars(objects["model"]).get("blend_")
    if blend is not None and "agreement" in vars(blend):  # made of format 1, it has them
        vars(blend)["agreements"] = (vars(blend).pop("agreement"),) * len(blend.sources)
    vars(objects["vectorizer"]).update(text_encoder="ngrams", embedded_=(), joined_={}, encoder_=None, notes_=())
    return objects


# -- format 3 --------------------------------------------------------------------------------------------------


def _from_format_3(objects: Any) -> Any:
    """Give every source the components of its rows, beside the neighborhoods that it has.

    What is expected of the accuracy is for probabilities, whose sharpness is in the file. Which rows were suggested was
    not remembered.
    """
    vars(objects["model"]).setdefault("suggested_rows_", np.empty(0, dtype=np.intp))
    blend = vars(objects["model"]).get("blend_")
    if blend is not None and "agreements" in vars(blend):
        structures = _structures(blend.sources, vars(blend).pop("agreements"))
        vars(blend).update(structures=structures, accuracy=None)
    return objects


def _structures(sources: Sequence[Source], agreements: Sequence[NeighborAgreement]) -> tuple[RowStructure, ...]:
    """Return what labelings are held against, made of neighborhoods that are known; one object where kernels see alike.

    By it a fit to further labels knows which candidates are of one view.
    """
    found: dict[int, RowStructure] = {}
    seen = [source.kernel.seen(source.rows) for source in sources]
    for part, agreement in zip(seen, agreements, strict=True):
        if id(part) not in found:
            found[id(part)] = RowStructure.around(agreement, LeadingComponents.of(part).at(part))
    return tuple(found[id(part)] for part in seen)


# What turns the objects of a format into those of the next.
_MIGRATIONS: Mapping[int, Callable[[Any], Any]] = {1: _from_format_1, 2: _from_format_2, 3: _from_format_3}
