"""Naive answers to hold the blending of candidates to, by loops and refits; no code is shared with the package."""

import math

import numpy as np

from oracles import eigenpairs, lssvm_from_the_paper

SHARPNESS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # the temperatures that a candidate is judged at, as documented
COST_OF_AN_ERROR = 0.25


def label_fit(K, labeled, targets, noise):
    """LS-SVM on the labeled rows of K, the noise in units of their mean variance; return α and b."""
    kernel = K[np.ix_(labeled, labeled)]
    return lssvm_from_the_paper(kernel, targets, 1 / noise_variance(K, labeled, noise), fit_intercept=True)


def noise_variance(K, labeled, noise):
    """The noise times the variance of the labeled rows: half of their mean squared distance in feature space."""
    squared_distances = [K[i, i] + K[j, j] - 2 * K[i, j] for i in labeled for j in labeled]
    return noise * sum(squared_distances) / len(squared_distances) / 2


def refits_without_each_label(K, labeled, targets, noise):
    """The decisions at each labeled row after a refit without it: with the intercept, and with mean 0 over all rows.

    The noise stays that of the whole fit.
    """
    variance = noise_variance(K, labeled, noise)
    with_intercept, centered = [], []
    for i, row in enumerate(labeled):
        others = np.delete(labeled, i)
        alpha, b = lssvm_from_the_paper(K[np.ix_(others, others)], np.delete(targets, i, axis=0), 1 / variance, True)
        f = K[:, others] @ alpha
        with_intercept.append(f[row] + b)
        centered.append(f[row] - f.mean(axis=0))
    return np.array(with_intercept), np.array(centered)


def label_response(K, k, gamma):
    """H = Σ γλ/(1 − γλ) v vᵀ over the components that are left."""
    eigenvalues, V = eigenpairs(K)
    gains = gamma * eigenvalues[k:] / (1 - gamma * eigenvalues[k:])
    return V[:, k:] @ np.diag(gains) @ V[:, k:].T


def new_label_response(K, cross, k, gamma):
    """H between new rows and the training rows: cross kernel × (I − VVᵀ) (I/γ − K′)⁻¹."""
    eigenvalues, V = eigenpairs(K)
    kept = V[:, k:]
    return cross @ kept @ np.diag(1 / (1 / gamma - eigenvalues[k:])) @ kept.T


def left_out_loss(scores, codes):
    """The loss of one candidate, label by label; labels that are alone in their class are passed over."""
    codes = codes.tolist()
    counted = [i for i, code in enumerate(codes) if codes.count(code) > 1]
    if not counted:
        return 0.0
    spread = float(np.std([scores[i] for i in counted]))
    losses = []
    for sharpness in SHARPNESS:
        total = 0.0
        for i in counted:
            powers = [math.exp(sharpness * score / (spread or 1.0)) for score in scores[i]]
            total -= math.log(powers[codes[i]] / sum(powers))
        losses.append(total)
    errors = sum(int(np.argmax(scores[i])) != codes[i] for i in counted)
    return min(losses) + COST_OF_AN_ERROR * errors


def neighbor_pairs(squared_distances, n_neighbors):
    """All ordered pairs of rows of which one is among the nearest neighbors of the other."""
    n = len(squared_distances)
    near = set()
    for i in range(n):
        order = [j for j in np.argsort(squared_distances[i], kind="stable").tolist() if j != i]
        near |= {(i, j) for j in order[:n_neighbors]}
    return sorted(near | {(j, i) for i, j in near})


def separation(components, codes, n_classes):
    """The nats a row that a labeling saves, by the densities of normal distributions, row by row.

    Along each component, rows have one normal distribution with mean 0 and variance 1, or one for each class. The
    variance of a class is that of its rows together with five more that vary like all rows, and at least a quarter. A
    row saves the difference of the expected logarithms of its densities: the rows of a class are as they are, but
    where its variance was raised they count as if they varied so much. Classes are told at the price of their entropy.
    """
    n = len(codes)
    saved = 0.0
    for code in range(n_classes):
        members = [row for row, own in zip(components, codes, strict=True) if own == code]
        if not members:
            continue
        saved += len(members) / n * math.log(len(members) / n)
        for column in range(components.shape[1]):
            values = [float(row[column]) for row in members]
            mean = sum(values) / len(values)
            variance = sum((value - mean) ** 2 for value in values) / len(values)
            variance = max((len(values) * variance + 5) / (len(values) + 5), 0.25)
            # Entropies of normal distributions: ½ log(2πe v) nats a row.
            whole, own = (0.5 * math.log(2 * math.pi * math.e * v) for v in (1.0, variance))
            saved += len(members) / n * (whole - own)
    return min(max(saved, -2.0), 3.0)


def whitened(rows, most=20):
    """Coordinates of rows along their leading principal components, with mean 0 and variance 1, by NumPy's SVD."""
    U, sizes, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    return np.sqrt(len(rows)) * U[:, (sizes > 1e-3 * sizes[0]) & (np.arange(len(sizes)) < most)]


def whitened_by_kernel(K, most=20):
    """The leading kernel principal components of the rows of a matrix, with mean 0 and variance 1."""
    n = len(K)
    centering = np.eye(n) - np.ones((n, n)) / n
    values, vectors = np.linalg.eigh(centering @ K @ centering)
    values, vectors = values[::-1], vectors[:, ::-1]
    return np.sqrt(n) * vectors[:, (values > 1e-7 * values[0]) & (np.arange(n) < most)]


def halves(codes, distances):
    """Labels of each class, nearest to the middle first, given out in turns; a label alone goes to both halves."""
    one, other = [], []
    for code in sorted(set(codes)):
        own = sorted((i for i in range(len(codes)) if codes[i] == code), key=lambda i: distances[i])
        one += own[::2]
        other += own[1::2] if len(own) > 1 else own
    return sorted(one), sorted(other)


def labelings_of_halves(K, labeled, codes, n_classes, noise, intercept):
    """The labels of all rows that LS-SVMs make of each half of the labels, fitted from scratch."""
    middle = [K[i, i] - 2 * K[i].mean() + K.mean() for i in labeled]  # ‖φ(x) − mean‖²
    found = []
    for half in halves(list(codes), middle):
        rows = np.asarray(labeled)[half]
        alpha, b = label_fit(K, rows, np.eye(n_classes)[np.asarray(codes)[half]], noise)
        scores = K[:, rows] @ alpha
        found.append(np.argmax(scores + b if intercept else scores - scores.mean(axis=0), axis=1))
    return found


def candidate_log_weight(
    counts, *, losses, agreement, best, separation, halves, shares, by_labels, needs_labels, from_labeled_alone
):
    """The logarithm of a candidate's weight (decision 0027).

    Separation and halves as they count in its view, and ``best``, the best agreement of a candidate of its view.
    """
    c, few = len(counts), max(0.0, 1 - sum(counts) / len(counts) / 10)
    expected = [(count + 1) / (sum(counts) + c) for count in counts]
    divergence = sum(p * math.log(p / q) for p, q in zip(shares, expected, strict=True) if p > 0)
    equal_counts = len(set(counts)) == 1 and counts[0] >= 2
    if by_labels:
        placement = 0.0 if equal_counts and from_labeled_alone else 3 * few
    else:
        placement = 2.0 if equal_counts else 0.0
    alike = agreement + best / 2 + 3 * few * halves
    structure = math.log(c) * alike + separation - min(1, 20 * (1 - agreement)) * divergence
    return c * structure - losses - placement - (5 * few if needs_labels else 0)


def best_of_views(values, views):
    """For each value the largest of its view."""
    best = {view: max(s for s, v in zip(values, views, strict=True) if v == view) for view in set(views)}
    return [best[view] for view in views]


def counted_within_views(values, views):
    """What counts of each value: how far it is behind the best one in its view, or all of it if none is positive."""
    return [
        value - best if best > 0 else value for value, best in zip(values, best_of_views(values, views), strict=True)
    ]
