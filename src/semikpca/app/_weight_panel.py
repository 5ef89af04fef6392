"""The error weight in words: who decides, the certificate of what does, and why the slider stops where it does."""

from typing import Any

from dash import html

from semikpca.app._pieces import box, low, soft
from semikpca.app._snapshot import Snapshot
from semikpca.app._workspace import Tab
from semikpca.convexity import ConvexityCertificate
from semikpca.workflow import SemiKPCAShare


def weight(snapshot: Snapshot, tab: Tab, share: SemiKPCAShare | None) -> list[Any]:
    """Return what stands below the slider; ``share`` is None as long as there are no predictions."""
    certificate = snapshot.certificate
    if certificate is None:
        return [soft("None of the kernels in use has an error weight.")]
    shown: list[Any] = [] if share is None else _who_decides(share)
    numbers = _numbers(snapshot, certificate)
    if share is not None and not share.decides:
        summary = html.Summary("The certificate of Semi-KPCA, which these labels do not rest on")
        numbers = html.Details([summary, numbers])
    shown.append(numbers)
    if tab.message is not None and tab.message.kind == "bound":
        shown.append(_at_the_bound(certificate))
    return shown


def _who_decides(share: SemiKPCAShare) -> list[Any]:
    if share.decides:
        return [html.P(share.in_words, className="soft", id="weight-share")]
    # Where the slider does nothing, that is to be seen before one tries it.
    words = html.P([html.Strong(share.in_words), " ", share.what_would_change_that])
    return [box("banner", words, id="weight-share", role="note")]


def _numbers(snapshot: Snapshot, certificate: ConvexityCertificate) -> html.Dl:
    next_name = f"λ{low(certificate.n_components_removed + 1)}"
    entries = {
        "Chosen": "paper’s middle" if snapshot.error_weight == "middle" else "by hand",
        f"Bound 1/{next_name}": f"{certificate.error_weight_max:.6g}",
        "Error weight": f"{certificate.error_weight:.6g}",
        "Condition number": f"{certificate.condition_number:,.4g}",
        "Certificate": "convex (estimate)" if certificate.is_estimate else "convex, exact",
    }
    relative = html.Dd(f"{certificate.relative_weight:.5f}", id="relative-weight")
    others = [part for name, value in entries.items() for part in (html.Dt(name), html.Dd(value))]
    return html.Dl([html.Dt("Relative weight"), relative, *others])


def _at_the_bound(certificate: ConvexityCertificate) -> html.Div:
    next_name = f"λ{low(certificate.n_components_removed + 1)}"
    text = (
        f"It stops here. The largest eigenvalue that is left is {next_name} = {certificate.next_eigenvalue:.6g}, "
        f"so from an error weight of 1/{next_name} = {certificate.error_weight_max:.6g} on, the problem is no "
        f"longer convex and has no solution. The weight stays at {certificate.error_weight:.6g}, "
        f"{certificate.relative_weight:.4%} of the bound."
    )
    return box("banner bound", html.P(text), role="alert", id="bound-message")
