"""The first page of a report, which a manager reads, and the last: methods, sources and limitations."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from kalos_core.annotations import Annotations
from kalos_core.calibration import ThresholdAdvice
from kalos_core.display import alpha_text, count_text, number_of, with_interval
from kalos_core.report.look import Card, Cards, Scale
from kalos_core.report.pages import Block, Heading, Items, Section, Text
from kalos_core.report.studies import Study
from kalos_core.results import digest_of
from kalos_core.statements import Statement
from kalos_core.text import plain
from kalos_core.version import __version__

WORTH = ("Images", "Ceiling", "Threshold")
"""Sections that statements on the worth of labels lead to."""

NEXT = ("Decide", "Runs")
"""Those on what is to be done."""

HARDEST = ("Hardest class", "Hardest question")
"""How statements on them begin."""

FEW_HABITS = 3
"""Raters whom the next steps name."""

LIMITATIONS = (
    "Agreement is not correctness: raters can agree and be wrong together.",
    "Alpha depends on the similarity and the threshold; values of another similarity or threshold are not comparable.",
    "An interval says how much the number would change with other images, not with other raters.",
    "A difference does not say who is right: that is decided case by case, or by the guideline.",
)

KALOS = (
    "Tschirschwitz and Rodehorst: KαLOS finds Consensus: A Meta-Algorithm for Evaluating Inter-Annotator Agreement in "
    "Complex Vision Tasks. CVPR 2026. https://arxiv.org/abs/2603.27197. Agreement, calibration and diagnostics."
)
CONVERGENCE = (
    "Tschirschwitz and Rodehorst: Label Convergence: Defining an Upper Performance Bound in Object Recognition through "
    "Contradictory Annotations. WACV 2025. Variation types, modified mAP and the ceiling."
)
KRIPPENDORFF = "Krippendorff: Content Analysis: An Introduction to Its Methodology. Alpha."
NOWAK = (
    "Nowak and Rüger: How Reliable are Annotations via Crowdsourcing? MIR 2010. "
    "https://doi.org/10.1145/1743384.1743478. Image-level labels."
)
LAMPERT = (
    "Lampert, Stumpf and Gançarski: An Empirical Study into Annotator Agreement, Ground Truth Estimation, and "
    "Algorithm Evaluation. Pixels, estimated references, and rankings under each."
)
"""What methods are from, with the identifier that is known."""


@dataclass(frozen=True)
class Source:
    """Where the data of a report are from, and what made it.

    Parameters
    ----------
    call : str
        The command, or the call.
    digest : str
        SHA-256 of the data.
    of : str
        What the digest is of.
    date : str
        Of the data; "" where it is not known.

    Examples
    --------
    >>> source = Source.of_file(Path(__file__), "kalos-core report labels.json")
    >>> len(source.digest), source.of
    (64, 'front.py')
    """

    call: str
    digest: str
    of: str
    date: str = ""

    @classmethod
    def of_file(cls, path: Path, call: str) -> Source:
        """Of a file; its date is that of its last change."""
        changed = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return cls(call, digest, path.name, f"{changed:%d %B %Y}")

    @classmethod
    def of_table(cls, annotations: Annotations, call: str, date: str = "") -> Source:
        """Of annotations in memory."""
        return cls(call, digest_of(annotations), "the annotations as they were read", date)

    def lines(self) -> list[str]:
        """For people."""
        date = f"; last changed on {self.date}" if self.date else "; their date is not known"
        return [
            f"Made on {datetime.now(timezone.utc):%d %B %Y} with kalos-core {__version__}: {self.call}",
            f"Data: SHA-256 {self.digest} of {self.of}{date}.",
        ]


def front(
    said: Sequence[Statement], next_steps: Sequence[str], numbers: Cards | None = None, scale: Scale | None = None
) -> Section:
    """One page: what the labels are worth, who and what is the problem, what to do next.

    Parameters
    ----------
    said : sequence of Statement
    next_steps : sequence of str
        After the statements on what is to be done.
    numbers, scale : Cards, Scale, optional
    """
    worth = [one for one in said if one.leads_to in WORTH] or list(said[:1])
    todo = [one.text for one in said if one.leads_to in NEXT]
    problem = [one.text for one in said if one not in worth and one.leads_to not in NEXT]
    blocks: list[Block] = [Heading("What the labels are worth"), *([scale] if scale else [])]
    blocks += [Text(one.text) for one in worth]
    blocks += [numbers] if numbers else []
    blocks += [Heading("Who and what is the problem"), Items(problem)] if problem else []
    blocks += [Heading("What to do next"), Items([*todo, *next_steps])]
    return Section("In short", blocks)


def front_of(found: Study) -> Section:
    """The first page of a study."""
    whole, table = found.agreement, found.annotations
    cards = [
        Card(count_text(len(table.images)), "images", f"{count_text(whole.images)} with an alpha"),
        Card(count_text(whole.units), "objects", f"{number_of(len(table), 'annotation')}"),
        *([] if found.raters_are_local else [Card(count_text(len(table.raters)), "raters")]),
        Card(count_text(len(table.categories)), "classes"),
        *([] if found.open_disputes is None else [Card(count_text(found.open_disputes), "objects in dispute")]),
    ]
    steps = next_steps(found.said, found.open_disputes or 0, found.advice)
    scale = Scale(whole.alpha, whole.alpha_interval)
    return front([*found.said, *advised(found)], steps, Cards(cards), scale)


def advised(found: Study) -> Iterator[Statement]:
    """What alpha would be with what the calibration recommends, where that is something else."""
    advice, there = found.advice, found.advised
    if advice is None or advice.settings is None:
        return
    threshold = float(advice.settings["threshold"])
    what = (
        f"With {advice.settings['similarity']} and threshold {alpha_text(threshold)}, which the calibration recommends,"
    )
    if there is None:
        text = f"{what} alpha is not computed here: it takes a new run."
    elif alpha_text(there.threshold) == alpha_text(threshold):
        text = f"{what} alpha would be {with_interval(there.alpha, there.interval)}."
    else:
        near = f"{with_interval(there.alpha, there.interval)}, its value at {alpha_text(there.threshold)}"
        text = f"{what} alpha would be about {near}."
    yield Statement(text, "Threshold")


def next_steps(said: Sequence[Statement], open_disputes: int = 0, advice: ThresholdAdvice | None = None) -> list[str]:
    """What to do, the most useful first.

    Examples
    --------
    >>> next_steps([Statement("Hardest class: cat.", "Classes", {"category": "cat"})])
    ['Say in the annotation guideline what counts as cat, with examples: raters agree on it least.']
    """
    steps = []
    if open_disputes:
        steps.append(
            f"Decide the {number_of(open_disputes, 'object')} in dispute, those on the images with the least agreement "
            "first; some are drawn under Agreement."
        )
    for name in _hardest(said):
        steps.append(f"Say in the annotation guideline what counts as {name}, with examples: raters agree on it least.")
    habits = [one for one in said if one.leads_to == "Raters" and "kind" in one.arguments]
    who = list(dict.fromkeys(plain(str(one.arguments["rater"])) for one in habits))[:FEW_HABITS]
    if who:
        page = "the page" if len(who) == 1 else "the pages"
        steps.append(f"Go through {page} below with {_together(who)}: each difference has an example.")
    if advice is not None and advice.settings is not None:
        what = f"{advice.settings['similarity']} and threshold {alpha_text(float(advice.settings['threshold']))}"
        steps.append(f"Compute agreement again with {what}; quote similarity, threshold and alpha together.")
    return steps or ["Nothing stands out: quote similarity, threshold and alpha together."]


def _hardest(said: Sequence[Statement]) -> list[str]:
    """The class or question that raters agree on least."""
    names = [
        one.arguments.get("category", one.arguments.get("question")) for one in said if one.text.startswith(HARDEST)
    ]
    return [plain(str(name)) for name in names if name is not None][:1]


def _together(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def methods(lines: Sequence[Block], cited: Iterable[str], limitations: Iterable[str]) -> Iterator[Section]:
    """How it was computed, by whom it was published, and what it cannot tell."""
    yield Section("Methods", [*lines, Heading("Sources"), Items(list(dict.fromkeys(cited)))])
    yield Section("Limitations", [Items(list(dict.fromkeys(limitations)))])
