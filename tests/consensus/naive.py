"""Estimates of ground truth pixel by pixel, in plain loops."""

import math
from statistics import mean, stdev

import numpy as np


def staple(labels, kinds, prior, iterations):
    """Apply the formulas of Warfield, Zou & Wells (2004): probabilities of pixels, and a confusion matrix per rater."""
    pixels = labels.reshape(len(labels), -1).T.tolist()
    weight = [[pixel.count(kind) / len(pixel) for kind in range(kinds)] for pixel in pixels]
    prior = np.mean(weight, axis=0) if prior is None else prior
    for _ in range(iterations):
        confusion = np.zeros((len(labels), kinds, kinds))
        for each, pixel in zip(weight, pixels, strict=True):
            for rater, vote in enumerate(pixel):
                confusion[rater, :, vote] += each
        confusion /= np.sum(weight, axis=0)[:, None]
        for place, pixel in enumerate(pixels):
            likely = [prior[s] * math.prod(confusion[j, s, vote] for j, vote in enumerate(pixel)) for s in range(kinds)]
            weight[place] = [value / sum(likely) for value in likely]
    return np.array(weight), confusion


def simple(votes, alpha):
    """Return the pixels of the truth, and the raters who are kept, from lists of votes per pixel."""
    raters = list(range(len(votes[0])))
    truth = {at for at, v in enumerate(votes) if 2 * sum(v) >= len(v)}
    while True:
        marked = {n: {at for at, v in enumerate(votes) if v[n]} for n in raters}
        fit = {n: 2 * len(m & truth) / (len(m) + len(truth)) if m or truth else 1.0 for n, m in marked.items()}
        least = mean(fit.values()) - alpha * stdev(fit.values()) - 1e-12 if len(fit) > 1 else 0
        kept = [n for n in raters if fit[n] >= least]
        whole = sum(fit[n] for n in kept)
        shares = [sum(fit[n] for n in kept if v[n]) / whole if whole else 0 for v in votes]
        found = {at for at, share in enumerate(shares) if share >= 0.5 - 1e-12}
        if kept == raters and found == truth:
            return found, kept
        raters, truth = kept, found


def lsml(masks, iterations, smoothness):
    """Compute the whole grid at every step, pixel by pixel; distances are to the nearest pixel of the other side."""
    raters, height, width = len(masks), len(masks[0]), len(masks[0][0])
    places = [(y, x) for y in range(height) for x in range(width)]
    inside = {(y, x): 2 * sum(mask[y][x] for mask in masks) >= raters for y, x in places}
    phi = {}
    for at in places:
        nearest = min(math.dist(at, other) for other in places if inside[other] != inside[at])
        phi[at] = nearest - 0.5 if inside[at] else 0.5 - nearest
    for _ in range(iterations):
        true = [at for at in places if phi[at] > 0]
        false = [at for at in places if phi[at] <= 0]
        p = [(sum(mask[y][x] for y, x in true) + 0.5) / (len(true) + 1) for mask in masks]
        q = [(sum(not mask[y][x] for y, x in false) + 0.5) / (len(false) + 1) for mask in masks]
        force = {}
        for y, x in places:

            def at(dy, dx, y=y, x=x, phi=phi):
                return phi[min(max(y + dy, 0), height - 1), min(max(x + dx, 0), width - 1)]

            votes_force = sum(
                math.log(p[n] / (1 - q[n])) if mask[y][x] else math.log((1 - p[n]) / q[n])
                for n, mask in enumerate(masks)
            )
            by_x, by_y = (at(0, 1) - at(0, -1)) / 2, (at(1, 0) - at(-1, 0)) / 2
            xx, yy = at(0, 1) - 2 * at(0, 0) + at(0, -1), at(1, 0) - 2 * at(0, 0) + at(-1, 0)
            xy = (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / 4
            bend = (xx * by_y**2 - 2 * by_x * by_y * xy + yy * by_x**2) / max(by_x**2 + by_y**2, 1e-6) ** 1.5
            force[y, x] = (votes_force + smoothness * min(max(bend, -1), 1)) * 1.5 / math.pi / (1.5**2 + at(0, 0) ** 2)
        largest = max(map(abs, force.values()))
        phi = {index: value + 0.5 * force[index] / largest for index, value in phi.items()}
    return [[phi[y, x] > 0 for x in range(width)] for y in range(height)]
