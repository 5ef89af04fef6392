"""The certificate and the blend of a labeled table as plain data."""

import inspect
import math
from typing import Any

import numpy as np

from semikpca._words import counted
from semikpca.convexity import ConvexityCertificate
from semikpca.kernels import Kernel, OnColumns, as_kernel
from semikpca.workflow import FilledTable, semi_kpca_uses

_MOST_CANDIDATES = 10
_BEYOND = 1.25  # the line goes on behind the bound, to this multiple of it
_SAME = 1e-9  # two weights that differ by less, relatively, are the same


def certificate_view(labeled: FilledTable) -> dict[str, Any] | None:
    """Return the certificate of the heaviest use of Semi-KPCA, with the places of its marks on the line in percent."""
    certificate = labeled.certificate
    if certificate is None:
        return None
    bound, weight = certificate.error_weight_max, certificate.relative_weight * certificate.error_weight_max
    k = certificate.n_components_removed
    # The middle as it is resolved for a fit, which keeps a small distance where the bound is uncertain.
    middle = certificate.resolve("middle")
    is_middle = math.isclose(weight, middle, rel_tol=_SAME)
    marks = {"bound": bound, "middle": middle, "weight": middle if is_middle else weight}
    if k:
        marks["lower"] = 1.0 / certificate.eigenvalues[k - 1]
    shown = dict(zip(marks, apart(list(marks.values())), strict=True))
    uses = _uses(labeled)
    return {
        **_common(certificate, uses),
        "decides": labeled.semi_kpca.decides or not labeled.semi_kpca.is_known,
        "in_words": labeled.semi_kpca.in_words,
        "what_would_change_that": labeled.semi_kpca.what_would_change_that,
        "semi_kpca_share": sum(entry["share"] for entry in uses),
        "error_weight": shown["weight"],
        "gap": number(certificate.gap) if math.isfinite(certificate.gap) else None,
        "lower": shown.get("lower"),
        "middle": shown["middle"],
        "bound": shown["bound"],
        "is_middle": is_middle,
        "line": {"lower": None} | {name: 100 * value / (_BEYOND * bound) for name, value in marks.items()},
        "close_up": _close_up(marks),
        "meaning": _meaning(certificate),
        "others": [_other(entry, uses) for entry in labeled.model.certificates_ if entry is not certificate],
    }


def _close_up(marks: dict[str, float]) -> dict[str, float] | None:
    """Return places between 1/λk and the bound on a logarithmic scale; None where the weight is not in between."""
    lower, middle, weight, bound = (marks.get(name, 0.0) for name in ("lower", "middle", "weight", "bound"))
    if not 0 < lower <= weight < bound or not lower < middle < bound:
        return None
    whole = math.log(bound / lower)
    return {"middle": 100 * math.log(middle / lower) / whole, "weight": 100 * math.log(weight / lower) / whole}


def _meaning(certificate: ConvexityCertificate) -> str:
    times = number(certificate.condition_number)
    return (
        f"At {share_below_one(certificate.relative_weight)} of the bound the problem is strongly convex: it has "
        "exactly one solution, which is what was computed, and no random start can change it. The condition number is "
        f"{times}: a small relative change of the labels changes the solution by at most {times} times as much."
        + ("" if certificate.n_components_removed else " No component was removed, so the interval begins at 0.")
    )


def _other(certificate: ConvexityCertificate, uses: list[dict[str, Any]]) -> dict[str, Any]:
    limit = certificate.error_weight_max
    bound, error_weight = apart([limit, certificate.relative_weight * limit])
    return {**_common(certificate, uses), "error_weight": error_weight, "bound": bound}


def _common(certificate: ConvexityCertificate, uses: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what is said of every certificate, with the use that it belongs to."""
    # Results have no certificates, but the same weights.
    key = certificate.n_components_removed, certificate.error_weight
    use = next((use for use in uses if (use["k"], use["error_weight"]) == key), None)
    return {
        "kernel": "" if use is None else use["kernel"],
        "share": None if use is None else use["share"],
        "k": certificate.n_components_removed,
        "relative_weight": share_below_one(certificate.relative_weight),
        "condition_number": number(certificate.condition_number),
        "is_estimate": certificate.is_estimate,
    }


def _uses(labeled: FilledTable) -> list[dict[str, Any]]:
    """Return each use of Semi-KPCA with its share in the blend, in percent."""
    return [
        {
            "kernel": _named(labeled, use.kernel),
            "k": use.n_components_removed,
            "error_weight": use.error_weight,
            "share": 100 * use.share,
        }
        for use in semi_kpca_uses(labeled.model)
    ]


def blend_view(labeled: FilledTable) -> dict[str, Any]:
    """Return the heaviest candidates of the blend, and what the others come to."""
    results = labeled.model.results_
    weights = np.asarray(results["weight"], dtype=float)
    order = np.argsort(-weights, kind="stable")
    shown, rest = order[:_MOST_CANDIDATES], order[_MOST_CANDIDATES:]
    candidates = []
    for place in shown:
        found = {name: values[place] for name, values in results.items()}
        k, error_weight = found["n_components_removed"], found["error_weight"]
        candidates.append(
            {
                "kernel": _named(labeled, found["kernel"]),
                "use": "plain" if k is None else f"Semi-KPCA, k = {k}",
                "error_weight": number(float(error_weight)) if np.isfinite(error_weight) else None,
                "noise": f"{found['noise']:g}",
                "share": 100 * float(weights[place]),
                **_judged(found),
            }
        )
    more = counted(len(rest), "more candidate has", "more candidates have")
    return {
        "candidates": candidates,
        "n_all": len(order),
        "rest": f"{more} {100 * weights[rest].sum():.1f}% of the weight together." if len(rest) else "",
    }


def _judged(found: dict[str, Any]) -> dict[str, Any]:
    """Return how a candidate does at left-out labels: the share found again, or the error in standard deviations."""
    if "left_out_error" in found:
        return {"error": float(found["left_out_error"])}
    accuracy = found["left_out_accuracy"]
    return {"intercept": bool(found["intercept"]), "accuracy": None if np.isnan(accuracy) else 100 * float(accuracy)}


def _named(labeled: FilledTable, kernel: Kernel) -> str:
    """Return a kernel with the columns that it sees, where these are not all."""
    view = labeled.view_of(kernel)
    return kernel_name(kernel) + (f" on {view.name}" if view.places else "")


def kernel_name(kernel: Kernel) -> str:
    """Return the class of a kernel with the parameters that are not its defaults, numbers with few digits.

    Which columns it sees is not said: as places of numbers they mean nothing to a reader.
    """
    if isinstance(kernel, OnColumns):
        return kernel_name(as_kernel(kernel.kernel))
    defaults = inspect.signature(type(kernel)).parameters
    shown = []
    for name, value in kernel.get_params(deep=False).items():
        if isinstance(value, Kernel):
            shown.append(kernel_name(value))
        elif repr(value) != repr(defaults[name].default):  # parameters may be arrays, which have no truth value
            text = number(value) if isinstance(value, float) else repr(value)
            shown.append(text if name == "kernel" else f"{name}={text}")
    return f"{type(kernel).__name__}({', '.join(shown)})"


def number(value: float, digits: int = 3) -> str:
    """Return a number with as many digits that count, as a reader writes it."""
    if value == 0 or not 1e-4 <= abs(value) < 1e6:
        return f"{value:.{digits}g}"
    text = f"{value:,.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def apart(values: list[float]) -> list[str]:
    """Return numbers with as few digits, three or more, as tell those that differ apart."""
    for digits in range(3, 16):
        shown = [number(value, digits) for value in values]
        if len(set(shown)) == len(set(values)):
            return shown
    return shown


def share_below_one(share: float) -> str:
    """Return a share in percent with as many digits as it takes not to call it the whole."""
    for digits in range(16):
        text = f"{share:.{digits}%}"
        if share >= 1 or not text.startswith("100"):
            return text
    return text
