"""STAPLE pixel by pixel, as Warfield, Zou & Wells (2004) write it: Equations 11-21 in plain loops."""

import math


def staple(votes, prior, iterations):
    """Lists of votes, one a pixel -> probabilities, sensitivities, specificities."""
    raters = range(len(votes[0]))
    weight = [sum(v) / len(v) for v in votes]
    g = sum(weight) / len(votes) if prior is None else prior
    for _ in range(iterations):
        p = [sum(w for w, v in zip(weight, votes, strict=True) if v[n]) / sum(weight) for n in raters]
        q = [
            sum(1 - w for w, v in zip(weight, votes, strict=True) if not v[n]) / sum(1 - w for w in weight)
            for n in raters
        ]
        a = [g * math.prod(p[n] if v[n] else 1 - p[n] for n in raters) for v in votes]
        b = [(1 - g) * math.prod(1 - q[n] if v[n] else q[n] for n in raters) for v in votes]
        weight = [x / (x + y) for x, y in zip(a, b, strict=True)]
    return weight, p, q
