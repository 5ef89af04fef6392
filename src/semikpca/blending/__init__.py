"""Several answers to the same labels: sources of candidates, the fit of each to the labels, and its weight."""

from semikpca.blending._agreement import NeighborAgreement
from semikpca.blending._candidates import Candidate, fit_candidates, heaviest_certificate, weigh_candidates
from semikpca.blending._label_fit import LabelFit, LabelSystem
from semikpca.blending._offsets import cautious_offsets
from semikpca.blending._sources import (
    Expansion,
    PlainSource,
    ResponseSource,
    Source,
    default_sources,
    expand_sources,
    keep_columns,
    named_sources,
    neighbor_links,
    sources_at_weight,
)
from semikpca.blending._weights import candidate_log_weights, left_out_losses, normalized_weights

__all__ = [
    "Candidate",
    "Expansion",
    "LabelFit",
    "LabelSystem",
    "NeighborAgreement",
    "PlainSource",
    "ResponseSource",
    "Source",
    "candidate_log_weights",
    "cautious_offsets",
    "default_sources",
    "expand_sources",
    "fit_candidates",
    "heaviest_certificate",
    "keep_columns",
    "left_out_losses",
    "named_sources",
    "neighbor_links",
    "normalized_weights",
    "sources_at_weight",
    "weigh_candidates",
]
