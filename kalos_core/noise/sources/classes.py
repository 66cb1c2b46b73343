"""Which classes are confused with one another: from observed confusions, embeddings, or a taxonomy (KαLOS §9.3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.arrays import as_floats
from kalos_core.display import number_of
from kalos_core.errors import InputError, index_of, is_hashable, listed, repr_of
from kalos_core.files import as_path, load_json
from kalos_core.variation import Variations, variations

TEMPERATURE = 0.1
"""Temperature of the softmax over similarities (Eq. 15)."""

NEAREST = 10
"""Maximum number of other classes that a class can be confused with (Eq. 15)."""


class ClassSource(Protocol):
    """Source of the similarity of classes."""

    @property
    def name(self) -> str:
        """Human-readable description, kept in the result."""
        ...

    def similarity(self, reference: Annotations, classes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the similarity (C, K) of C classes (codes) to all K classes of the reference's vocabulary.

        -inf where a class cannot be confused with another. The diagonal is ignored.
        """
        ...


@dataclass(frozen=True, eq=False)
class ConfusionClasses:
    """Classes that raters confused with one another, smoothed by the class frequencies of the reference.

    A class c becomes c' in proportion to n(c, c') + f(c'). Here n is the number of confusions of the two, and f the
    share of c' among the annotations of the reference. With few confusions, frequent classes are the most likely. The
    similarity is 0.1 ln of that probability, so that the softmax at 0.1 restores it. Classes without confusions go by
    frequency alone, so any reference can be used.

    Parameters
    ----------
    categories : (C,) names
    counts : (C, C) float
        Number of confusions of two classes, at least 0; symmetric, the diagonal is not used.

    Raises
    ------
    InputError
        If the counts are negative, not finite, or of another shape; if a name is repeated.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": "ann", "category": c, "box": [0, 0, 9, 9]} for c in ("cat", "dog", "dog", "cow")]
    >>> reference = Annotations.from_rows(rows)
    >>> source = ConfusionClasses(["cat", "cow"], [[0, 3], [3, 0]])
    >>> Transitions.of(source, reference).probability("cat")  # doctest: +ELLIPSIS
    {'cow': 0.866..., 'dog': 0.133...}
    >>> Transitions.of(ConfusionClasses(), reference).probability("cat")  # doctest: +ELLIPSIS
    {'dog': 0.666..., 'cow': 0.333...}
    """

    categories: Sequence[str] = ()
    counts: ArrayLike = ()

    def __post_init__(self) -> None:
        names = object_array(self.categories)
        counts = as_floats(self.counts, "counts") if len(names) else np.zeros((0, 0))
        if counts.shape != (len(names), len(names)):
            raise InputError(f"counts: expected {len(names)} x {len(names)} numbers, got shape {counts.shape}")
        if len(set(names)) < len(names):
            raise InputError(f"categories: expected each name once, got {listed(map(repr_of, names))}")
        if not (np.isfinite(counts) & (counts >= 0)).all():
            raise InputError("counts: expected finite numbers of 0 or more, got others")
        object.__setattr__(self, "categories", names)
        object.__setattr__(self, "counts", counts)

    @classmethod
    def of(cls, seen: Variations | Annotations) -> ConfusionClasses:
        """Count the confusions among variations, or among the raters of a table (none with a single rater).

        Examples
        --------
        >>> raters = [("ann", "cat"), ("bob", "dog")]
        >>> rows = [{"image": 1, "rater": r, "category": c, "box": [0, 0, 9, 9]} for r, c in raters]
        >>> ConfusionClasses.of(Annotations.from_rows(rows)).name
        'confusions of classes (1 seen), smoothed by class frequency'
        """
        if isinstance(seen, Annotations):
            if len(seen.raters) < 2 or not len(seen):
                return cls()
            seen = variations(seen, "box_iou", max_merge=2)
        table = seen.confusions()
        names = sorted({*table.category_a, *table.category_b})
        code = {name: index for index, name in enumerate(names)}
        counts = np.zeros((len(names), len(names)))
        a = np.array([code[name] for name in table.category_a], dtype=np.intp)
        b = np.array([code[name] for name in table.category_b], dtype=np.intp)
        np.add.at(counts, (a, b), table.count)
        np.add.at(counts, (b, a), table.count)
        return cls(names, counts)

    @property
    def name(self) -> str:
        """Description with the number of confusions."""
        seen = int(np.asarray(self.counts).sum()) // 2
        return f"confusions of classes ({seen:,} seen), smoothed by class frequency" if seen else "class frequency"

    def similarity(self, reference: Annotations, classes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return (C, K) 0.1 ln of the probability of each confusion."""
        frequency = np.bincount(reference.category, minlength=len(reference.categories)) / max(len(reference), 1)
        index = _indices_of(self.categories, reference.categories)
        counts = np.zeros((len(classes), len(reference.categories)))
        known, both = np.flatnonzero(index[classes] >= 0), np.flatnonzero(index >= 0)
        counts[np.ix_(known, both)] = np.asarray(self.counts)[np.ix_(index[classes[known]], index[both])]
        chance = (counts + frequency) / (counts.sum(axis=1, keepdims=True) + 1)
        with np.errstate(divide="ignore"):  # a class that never occurs has probability 0: -inf
            return np.asarray(TEMPERATURE * np.log(chance))


@dataclass(frozen=True, eq=False)
class EmbeddingClasses:
    """Classes that look alike: cosine similarity of the mean embeddings of classes (KαLOS Eq. 15).

    Parameters
    ----------
    vectors : (M, D) float
        One embedding per class, or one per annotation; those of a class are averaged.
    categories : (M,) names
        Class of each embedding.
    model : str
        Model that computed the embeddings, kept in the result.

    Raises
    ------
    InputError
        If an embedding is not finite or a class has a mean of length 0; if a class of the reference has none.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": "ann", "category": c, "box": [0, 0, 9, 9]} for c in ("cat", "dog", "bus")]
    >>> source = EmbeddingClasses([[1, 0], [0.9, 0.1], [0, 1]], ["cat", "dog", "bus"])
    >>> Transitions.of(source, Annotations.from_rows(rows)).probability("cat")  # doctest: +ELLIPSIS
    {'dog': 0.999..., 'bus': 4...e-05}
    >>> EmbeddingClasses([[float("nan"), 0]], ["cat"])
    Traceback (most recent call last):
    kalos_core.errors.InputError: embeddings: expected finite numbers, got NaN or infinity for 'cat'
    """

    vectors: ArrayLike
    categories: Sequence[str]
    model: str = "embeddings"

    def __post_init__(self) -> None:
        vectors, names = as_floats(self.vectors, "embeddings"), object_array(self.categories)
        if vectors.ndim != 2 or len(vectors) != len(names):
            raise InputError(f"embeddings: expected one for each of {len(names)} names, got shape {vectors.shape}")
        broken = ~np.isfinite(vectors).all(axis=1)
        if broken.any():
            actual = listed(map(repr_of, dict.fromkeys(names[broken])))
            raise InputError(f"embeddings: expected finite numbers, got NaN or infinity for {actual}")
        distinct = list(dict.fromkeys(names))
        code = {name: index for index, name in enumerate(distinct)}
        means = np.zeros((len(distinct), vectors.shape[1]))
        np.add.at(means, [code[name] for name in names], vectors)
        length = np.linalg.norm(means, axis=1, keepdims=True)
        flat = np.flatnonzero(length[:, 0] == 0)
        if len(flat):
            actual = listed(repr_of(distinct[row]) for row in flat)
            raise InputError(f"embeddings: expected a direction for every class, got a mean of length 0 for {actual}")
        object.__setattr__(self, "vectors", means / length)
        object.__setattr__(self, "categories", object_array(distinct))

    @property
    def name(self) -> str:
        """Description with the number of classes."""
        return f"{self.model} of {number_of(len(self.categories), 'class')}"

    def similarity(self, reference: Annotations, classes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the cosines (C, K); -inf for classes without an embedding."""
        index = _indices_of(self.categories, reference.categories)
        _check_known(reference, classes[index[classes] < 0], "embeddings")
        vectors, known = np.asarray(self.vectors), index >= 0
        found = np.full((len(classes), len(index)), -np.inf)
        found[:, known] = vectors[index[classes]] @ vectors[index[known]].T
        return found


@dataclass(frozen=True, eq=False)
class TaxonomyClasses:
    """Classes that are near in a tree: twice the depth of the nearest common ancestor over the sum of both depths.

    This is the similarity of Wu and Palmer (1994), 1 for the class itself; the common root has depth 1.

    Parameters
    ----------
    parents : mapping name -> name or None
        Parent of every class and group; None at the top. A parent that is not a key is at the top as well.

    Raises
    ------
    InputError
        If a name is its own ancestor; if a class of the reference is not in the tree.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": "ann", "category": c, "box": [0, 0, 9, 9]} for c in ("cat", "dog", "bus")]
    >>> source = TaxonomyClasses.from_tree({"animal": ["cat", "dog"], "vehicle": ["bus"]})
    >>> Transitions.of(source, Annotations.from_rows(rows)).probability("cat")  # doctest: +ELLIPSIS
    {'dog': 0.965..., 'bus': 0.034...}
    """

    parents: Mapping[str, str | None]

    def __post_init__(self) -> None:
        if not isinstance(self.parents, Mapping):
            raise InputError(f"taxonomy: expected a mapping from each name to its parent, got {repr_of(self.parents)}")
        tops: dict[str, str | None] = {above: None for above in self.parents.values() if above is not None}
        object.__setattr__(self, "parents", tops | dict(self.parents))
        for name in self.parents:
            self._path(name)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any] | str | PathLike[str]) -> TaxonomyClasses:
        """Build from a nested mapping, or its JSON file: a group holds a mapping or a list of names, a class nothing.

        Raises
        ------
        InputError
            If it is not such a tree, or has a name twice.
        """
        if not isinstance(tree, Mapping):
            tree = load_json(as_path(tree, "taxonomy", "a tree of classes, or the path of its JSON"), "taxonomy")
        if not isinstance(tree, Mapping):
            raise InputError(f"taxonomy: expected a tree of groups with classes, got {type(tree).__name__}")
        parents: dict[str, str | None] = {}
        _collect(tree, None, parents)
        return cls(parents)

    @property
    def name(self) -> str:
        """Description with the number of names."""
        return f"taxonomy of {number_of(len(self.parents), 'name')}"

    def similarity(self, reference: Annotations, classes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the similarities (C, K) in the tree; -inf for classes that are not in it."""
        known = np.array([name in self.parents for name in reference.categories], np.bool_)
        _check_known(reference, classes[~known[classes]], "taxonomy")
        paths = [self._path(name) if there else [] for name, there in zip(reference.categories, known, strict=True)]
        nodes = {name: index for index, name in enumerate(dict.fromkeys(node for path in paths for node in path))}
        above = np.zeros((len(paths), len(nodes)))
        for row, path in enumerate(paths):
            above[row, [nodes[node] for node in path]] = 1
        depth = above.sum(axis=1) + 1  # including the common root
        shared = above[classes] @ above.T + 1
        return np.where(known, 2 * shared / (depth[classes, None] + depth), -np.inf)

    def _path(self, name: str) -> list[str]:
        """Return a name and all its ancestors."""
        path, above = [name], self.parents.get(name)
        while above is not None:
            if above in path:
                raise InputError(f"taxonomy: expected a tree, got {repr_of(above)} above itself")
            path.append(above)
            above = self.parents.get(above)
        return path


def _collect(tree: object, above: str | None, parents: dict[str, str | None]) -> None:
    if tree is None:
        return
    names = [tree] if isinstance(tree, str) else tree
    if not isinstance(names, (Mapping, Sequence)):
        raise InputError(f"taxonomy: expected mappings and lists of names, got {repr_of(tree)}")
    for name in names:
        if not is_hashable(name) or not isinstance(name, str):
            raise InputError(f"taxonomy: expected names, got {repr_of(name)}")
        if name in parents:
            raise InputError(f"taxonomy: expected each name once, got {repr_of(name)} again")
        parents[name] = above
        if isinstance(names, Mapping):
            _collect(names[name], name, parents)


def _indices_of(names: Sequence[str], wanted: NDArray[np.object_]) -> NDArray[np.intp]:
    """Return the index (K,) of each wanted name among those of the source, -1 if it is missing."""
    code = {name: index for index, name in enumerate(names)}
    return np.array([code.get(name, -1) for name in wanted], dtype=np.intp)


def _check_known(reference: Annotations, unknown: NDArray[np.intp], what: str) -> None:
    if len(unknown):
        actual = listed(repr_of(name) for name in reference.categories[unknown])
        raise InputError(f"{what}: expected every class of the reference, got nothing about {actual}")


@dataclass(frozen=True, eq=False)
class Transitions:
    """Probability that each class is confused with its nearest others: softmax of similarity / 0.1 (KαLOS Eq. 15).

    Parameters
    ----------
    categories : (K,) names
    to : (K, at most 10) int
        Codes of the nearest other classes, -1 where there are fewer.
    chance : (K, at most 10) float64
        Their probabilities: they sum to 1, or to 0 for a class that cannot be confused.
    """

    categories: NDArray[np.object_]
    to: NDArray[np.intp]
    chance: NDArray[np.float64]

    @classmethod
    def of(cls, source: ClassSource, reference: Annotations, allowed: NDArray[np.bool_] | None = None) -> Transitions:
        """Build from the classes that occur in a reference, to classes of its vocabulary or the `allowed` (K,) of them.

        Raises
        ------
        InputError
            If the source gives NaN, positive infinity, or an array of another shape.
        """
        size = len(reference.categories)
        classes = np.unique(reference.category)
        found = np.array(source.similarity(reference, classes), dtype=np.float64)
        if found.shape != (len(classes), size):
            raise InputError(f"{source.name}: expected {len(classes)} x {size} similarities, got shape {found.shape}")
        strange = np.isnan(found).any(axis=1) | (found == np.inf).any(axis=1)
        if strange.any():
            actual = listed(repr_of(name) for name in reference.categories[classes[strange]])
            raise InputError(f"{source.name}: expected similarities of classes, got NaN or infinity for {actual}")
        found[np.arange(len(classes)), classes] = -np.inf
        if allowed is not None:
            found[:, ~allowed] = -np.inf
        nearest = np.argsort(-found, axis=1, kind="stable")[:, :NEAREST]
        value = np.take_along_axis(found, nearest, axis=1)
        possible = value > -np.inf
        best = np.where(possible[:, :1], value[:, :1], 0.0)
        weight = np.exp((value - best) / TEMPERATURE)
        to, chance = np.full((size, nearest.shape[1]), -1), np.zeros((size, nearest.shape[1]))
        to[classes] = np.where(possible, nearest, -1)
        chance[classes] = weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
        return cls(reference.categories, to, chance)

    def draw(self, categories: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw another class (M,) for each of the given ones; -1 for one that cannot be confused."""
        if not self.to.shape[1]:
            return np.full(len(categories), -1)
        below = np.cumsum(self.chance, axis=1)[categories]
        # by rounding, the last sum may be below 1
        index = (rng.random(len(categories))[:, None] * below[:, -1:] >= below).sum(axis=1)
        return np.asarray(self.to[categories, np.minimum(index, self.to.shape[1] - 1)])

    def probability(self, name: str) -> dict[str, float]:
        """Return the classes that a class is confused with, most likely first.

        Examples
        --------
        >>> rows = [{"image": 1, "rater": "ann", "category": c, "box": [0, 0, 9, 9]} for c in ("cat", "dog")]
        >>> Transitions.of(ConfusionClasses(), Annotations.from_rows(rows)).probability("dog")
        {'cat': 1.0}
        """
        row = index_of(self.categories.tolist(), name, "class")
        return {
            str(self.categories[code]): float(chance)
            for code, chance in zip(self.to[row], self.chance[row], strict=True)
            if code >= 0
        }
