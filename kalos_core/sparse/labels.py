"""Labels that were given where counts of labels are meant: recognised by which of the two explains the table better."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.errors import InputError, KalosWarning

CELLS = 20_000
"""Of a larger table so many cells are looked at, in rows spread over all of it."""

FEWEST_ROWS = 12
"""So many rows of a large table are looked at, however many columns, and codes in fewer are no sign of anything."""

UNSURE, SURE = float(np.log(10)), float(np.log(100))
"""Log of how much likelier a table has to be as labels than as counts to be warned of, and to be refused."""

CODES = 20
"""Codes of categories go to so much at most."""

SHARES = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97])
"""Probabilities tried that a rater gives the value of the item, and does not draw one from all labels."""

CONCENTRATIONS = np.array([0.05, 0.15, 0.4, 1, 2.5, 6, 15, 40, 100])
"""Spreads tried of the shares of the categories from item to item (Dirichlet parameters, a category)."""

ROUNDS = 50
"""How often the weights of the ways in which counts may come about are fitted (expectation maximisation)."""

HINT = (
    "labels, items x raters, go to nominal_alpha(labels), and into counts by label_counts(labels), such as "
    "fleiss_kappa(label_counts(labels))"
)
"""What to do with labels."""

KEPT = "If they are counts, pass scipy.sparse.csr_array(counts)"
"""What to do with counts that look like labels."""


def refuse_labels(counts: NDArray[Any]) -> None:
    """An error if counts (I, C) are much likelier labels, items x raters or turned, and a warning if they may be.

    Rows of equal sums are counts of as many raters for each item, and taken as they are. Otherwise the likelihood of
    the table is compared: as labels, of raters who give the value of an item or guess (`labels_likelihood`), of the
    table as it is and turned; and as counts, of any mixture of items that are easy, hard or ambiguous
    (`counts_likelihood`). What is 100 times likelier as labels is refused, what is 10 times likelier warned of, and so
    is a table of three columns or more whose cells are the codes 1 to K, all of which occur, and which as counts would
    agree no better than by chance.

    Warns
    -----
    KalosWarning
        If they may be labels; they are taken as counts.

    Raises
    ------
    InputError
        If they are labels by all appearance.

    Examples
    --------
    >>> refuse_labels(np.array([[3, 0], [2, 1], [0, 1]]))
    >>> refuse_labels(np.array([[0, 0, 0], [4, 4, 4], [1, 1, 1], [2, 2, 2], [3, 3, 1]] * 4))
    Traceback (most recent call last):
    kalos_core.errors.InputError: counts: expected counts of labels, items x categories, got what looks like labels, \
items x raters: rows sum to 0 to 12, and alpha is 0.83 if these are labels, -0.15 if they are counts; labels, items x \
raters, go to nominal_alpha(labels), and into counts by label_counts(labels), such as \
fleiss_kappa(label_counts(labels)). If they are counts, pass scipy.sparse.csr_array(counts)
    """
    items, columns = counts.shape
    if columns < 2 or not items:
        return
    rows = counts
    if counts.size > CELLS:
        rows = counts[np.linspace(0, items - 1, min(max(CELLS // columns, FEWEST_ROWS), items)).astype(np.intp)]
        rows = rows[:, :CELLS]
    sums = rows.sum(axis=1)
    if (sums == sums[0]).all():
        return
    upright, turned = labels_likelihood(rows), labels_likelihood(rows.T)
    likelier = max(upright, turned) - counts_likelihood(rows)
    if likelier <= UNSURE and not _all_codes(rows, sums):
        return
    is_turned = turned > upright + SURE and columns > items
    kind, hint = ("raters x items", HINT.replace("(labels)", "(labels.T)")) if is_turned else ("items x raters", HINT)
    alphas = [_alpha_of_labels(rows.T if is_turned else rows), _alpha_of_counts(rows, sums)]
    facts = (
        f"rows sum to {sums.min():g} to {sums.max():g}, and alpha is {alphas[0]:.2f} if these are labels, "
        f"{alphas[1]:.2f} if they are counts; {hint.replace('items x raters', kind)}. {KEPT}"
    )
    if likelier > SURE:
        raise InputError(
            f"counts: expected counts of labels, items x categories, got what looks like labels, {kind}: {facts}"
        )
    warnings.warn(f"counts: taken as counts, items x categories, but may be labels, {kind}: {facts}", KalosWarning, 4)


def _all_codes(rows: NDArray[Any], sums: NDArray[Any]) -> bool:
    """Whether the cells are the codes 1 to K, all of which occur, and as counts would not agree beyond chance."""
    used = np.unique(rows)
    are_codes = used[0] == 1 and 2 < len(used) == used[-1] <= CODES
    are_many = len(rows) >= FEWEST_ROWS and rows.shape[1] > 2  # raters who guess in two categories use them all
    return bool(are_codes and are_many and _alpha_of_counts(rows, sums) <= 0)


def labels_likelihood(labels: NDArray[Any], given: NDArray[np.bool_] | None = None) -> float:
    """Log likelihood of labels (I, R), of which some may be missing, at the best share of raters who know.

    A rater gives the value of the item with a probability of `SHARES`, and else one from the shares of all labels,
    which are integrated out (Krichevsky & Trofimov 1981).

    Examples
    --------
    >>> alike, unlike = np.array([[1, 1], [2, 2]] * 3), np.array([[1, 2], [2, 1]] * 3)
    >>> round(labels_likelihood(alike), 2), round(labels_likelihood(unlike), 2)
    (-5.83, -9.81)
    """
    given = np.ones(labels.shape, np.bool_) if given is None else given
    item = np.nonzero(given)[0]
    used, code = np.unique(labels[given], return_inverse=True)
    number, size = np.bincount(code, minlength=len(used)), len(used)
    cell, times = np.unique(item * size + code, return_counts=True)
    item, share = cell // size, number[cell % size] / len(code)
    log_gamma = scipy.special.gammaln
    guessed = float(
        (log_gamma(number + 0.5) - log_gamma(0.5)).sum() + log_gamma(size / 2) - log_gamma(len(code) + size / 2)
    )
    elsewhere = np.maximum(1 - np.bincount(item, share, len(labels)), 0)  # values that nobody gave the item
    best = guessed
    for knowing in SHARES:
        terms = np.log(share) + times * np.log1p(knowing / ((1 - knowing) * share))
        largest = np.zeros(len(labels))
        np.maximum.at(largest, item, terms)
        summed = np.bincount(item, np.exp(terms - largest[item]), len(labels)) + elsewhere * np.exp(-largest)
        best = max(best, guessed + len(code) * np.log1p(-knowing) + float((np.log(summed) + largest).sum()))
    return float(best)


def counts_likelihood(counts: NDArray[Any]) -> float:
    """Log likelihood of counts (I, C), given how often each number of raters occurs, at the best mixture of items.

    Raters of an item draw from the shares of the categories; or from shares that differ from item to item, more or less
    (`CONCENTRATIONS`); or give one category of the item with a probability (`SHARES`) and else draw from the shares, or
    from all categories alike.

    Examples
    --------
    >>> round(counts_likelihood(np.array([[3, 0], [0, 3]] * 3)), 2), round(counts_likelihood(np.array([[2, 1]] * 6)), 2)
    (-4.45, -4.93)
    """
    counts = counts[:, counts.any(axis=0)].astype(np.float64)
    sums = counts.sum(axis=1)
    items, categories = counts.shape
    log_gamma = scipy.special.gammaln
    share = counts.sum(axis=0) / sums.sum()
    ways = [counts @ np.log(share)]
    for spread in CONCENTRATIONS * categories:
        shares = spread * share
        from_item = (log_gamma(counts + shares) - log_gamma(shares)).sum(axis=1)
        ways.append(log_gamma(spread) - log_gamma(sums + spread) + from_item)
    for guess in (share, np.full(categories, 1 / categories)):
        for knowing in SHARES:
            by_category = np.log(share) + counts * np.log1p(knowing / ((1 - knowing) * guess))
            ways.append(counts @ np.log((1 - knowing) * guess) + scipy.special.logsumexp(by_category, axis=1))
    logs = np.array(ways)
    largest = logs.max(axis=0)
    likelihood = np.exp(logs - largest)
    weight = np.full(len(ways), 1 / len(ways))
    for _ in range(ROUNDS):
        weight = (likelihood * weight[:, None] / (weight @ likelihood)).mean(axis=1)
    orders = float((log_gamma(sums + 1) - log_gamma(counts + 1).sum(axis=1)).sum())
    times = np.unique(sums, return_counts=True)[1]
    return float((times * np.log(times / items)).sum() + orders + (np.log(weight @ likelihood) + largest).sum())


def _alpha_of_labels(labels: NDArray[Any]) -> float:
    """Krippendorff's alpha of labels (I, R) without gaps."""
    ordered = np.sort(labels, axis=1)
    run = np.zeros(len(labels), np.int64)
    agreeing = 0
    for column in range(1, labels.shape[1]):  # equal labels stand next to each other
        run = np.where(ordered[:, column] == ordered[:, column - 1], run + 1, 0)
        agreeing += 2 * int(run.sum())
    totals = np.unique(labels, return_counts=True)[1].astype(np.float64)
    return _alpha(agreeing / (labels.shape[1] - 1), totals)


def _alpha_of_counts(counts: NDArray[Any], sums: NDArray[Any]) -> float:
    """Krippendorff's alpha of counts (I, C) with their sums (I,)."""
    usable = sums >= 2
    numbers = counts[usable].astype(np.float64)
    agreeing = ((numbers * (numbers - 1)).sum(axis=1) / (sums[usable] - 1)).sum()
    return _alpha(float(agreeing), numbers.sum(axis=0))


def _alpha(coincident: float, totals: NDArray[np.float64]) -> float:
    """Alpha of agreeing coincidences and totals of the categories; NaN where nothing could disagree."""
    n = totals.sum()
    by_chance = n**2 - (totals**2).sum()
    return float(1 - (n - 1) * (n - coincident) / by_chance) if by_chance > 0 else float("nan")
