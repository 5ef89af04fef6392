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
