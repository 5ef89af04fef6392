"""The neighbor graph by its definition, pair by pair; shares no code with the package."""

import math

import numpy as np

# Distances that differ by less, relatively, are equal.
TIE = 1e-9


def distance(a, b):
    return math.sqrt(sum((float(x) - float(y)) ** 2 for x, y in zip(a, b, strict=True)))


def radius(x, training, n_neighbors):
    """Distance to the (n_neighbors + 1)-th nearest training row; the last one where there are fewer."""
    distances = sorted(distance(x, y) for y in training)
    return distances[min(n_neighbors, len(distances) - 1)]


def weights(rows, training, n_neighbors):
    """w(x, y) for each row x and training row y."""
    training_radii = [radius(y, training, n_neighbors) for y in training]
    floor = min((r for r in training_radii if r > 0), default=1.0)
    W = np.zeros((len(rows), len(training)))
    for i, x in enumerate(rows):
        r_x = radius(x, training, n_neighbors)
        for j, y in enumerate(training):
            d, r_y = distance(x, y), training_radii[j]
            sides = (d <= r_x * (1 + TIE)) + (d <= r_y * (1 + TIE))
            if sides:
                W[i, j] = math.exp(-4 * d**2 / ((r_x or floor) * (r_y or floor))) * sides / 2
    return W


def transitions(rows, training, n_neighbors, teleport):
    """s′(x, z) for each row x and training row z."""
    W, W_training = weights(rows, training, n_neighbors), weights(training, training, n_neighbors)
    d, d_training = W.sum(axis=1), W_training.sum(axis=1)
    v, v_training = np.sqrt(d / d_training.sum()), np.sqrt(d_training / d_training.sum())
    return (1 - teleport) * W / np.sqrt(np.outer(d, d_training)) + teleport * np.outer(v, v_training)


def neighbor_graph(A, B, training, n_neighbors, teleport=1.5e-3):
    """The kernel: Σ s′(a, z) s′(z, b) over the training rows z."""
    A, B, training = (np.asarray(rows, dtype=float) for rows in (A, B, training))
    left = transitions(A, training, n_neighbors, teleport)
    return left @ transitions(B, training, n_neighbors, teleport).T
