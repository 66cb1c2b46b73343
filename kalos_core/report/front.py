"""First page of a report, for decision makers, and last page: methods, sources and limitations."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from kalos_core.annotations import Annotations
from kalos_core.calibration import ThresholdAdvice
from kalos_core.display import alpha_text, count_text, number_of, with_interval
from kalos_core.options import checked
from kalos_core.report.look import Card, Cards, Scale
from kalos_core.report.pages import Block, Heading, Items, Section, Text
from kalos_core.report.studies import Study
from kalos_core.results import digest_of
from kalos_core.statements import Statement
from kalos_core.text import plain
from kalos_core.version import __version__

WORTH = ("Images", "Ceiling", "Threshold")
"""Link targets of statements on the value of labels."""

NEXT = ("Decide", "Runs")
"""Link targets of statements on next steps, besides those on disputes about image-level labels."""

HARDEST = ("Hardest class", "Hardest question")
"""Beginnings of statements on the hardest class or question."""

FEW_HABITS = 3
"""Maximum number of raters named in the next steps."""

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
"""References of the methods, with identifiers if known."""


@dataclass(frozen=True)
class Source:
    """Origin of the data of a report, and how it was made.

    Parameters
    ----------
    call : str
        Command or function call.
    digest : str
        SHA-256 of the data.
    of : str
        What the digest was computed from.
    when : str
        When the data were changed or read; "" if unknown.

    Examples
    --------
    >>> source = Source.of_file(Path(__file__), "kalos-core report labels.json")
    >>> len(source.digest), source.of
    (64, 'front.py')
    """

    call: str
    digest: str
    of: str
    when: str = ""

    @classmethod
    def of_file(cls, path: Path, call: str) -> Source:
        """Create a source from a file; its date is the modification time."""
        changed = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return cls(call, digest, path.name, f"last changed on {changed:%d %B %Y}")

    @classmethod
    @checked
    def of_table(cls, annotations: Annotations, call: str) -> Source:
        """Create a source from annotations in memory."""
        return cls(call, digest_of(annotations), "the annotations as they were read")

    def lines(self) -> list[str]:
        """Return the source as text lines."""
        when = self.when or "their date is not known"
        return [
            f"Made on {datetime.now(timezone.utc):%d %B %Y} with kalos-core {__version__}: {self.call}",
            f"Data: SHA-256 {self.digest} of {self.of}; {when}.",
        ]


def front(
    said: Sequence[Statement], next_steps: Sequence[str], numbers: Cards | None = None, scale: Scale | None = None
) -> Section:
    """Build the front page: value of the labels, problems, and next steps.

    Parameters
    ----------
    said : sequence of Statement
    next_steps : sequence of str
        Shown after the statements on next steps.
    numbers, scale : Cards, Scale, optional
    """
    worth = [one for one in said if one.leads_to in WORTH] or list(said[:1])
    todo = [one for one in said if one.leads_to in NEXT or one.arguments.get("kind") == "disputes"]
    problem = [one.text for one in said if one not in worth and one not in todo]
    blocks: list[Block] = [Heading("What the labels are worth"), *([scale] if scale else [])]
    blocks += [Text(one.text) for one in worth]
    blocks += [numbers] if numbers else []
    blocks += [Heading("Who and what is the problem"), Items(problem)] if problem else []
    blocks += [Heading("What to do next"), Items([*(one.text for one in todo), *next_steps])]
    return Section("In short", blocks)


def front_of(found: Study) -> Section:
    """Build the front page of a study."""
    whole, table = found.agreement, found.annotations
    cards = [
        Card.of(len(table.images), "image", f"{count_text(whole.images)} with an alpha"),
        Card.of(whole.units, "object", number_of(len(table), "annotation")),
        *([] if found.raters_are_local else [Card.of(len(table.raters), "rater")]),
        Card.of(len(table.categories), "class"),
        *([] if found.open_disputes is None else [Card.of(found.open_disputes, "object in dispute")]),
    ]
    scale = Scale(whole.alpha, whole.alpha_interval)
    return front(short_of(found), steps_of(found), Cards(cards), scale)


def short_of(found: Study) -> list[Statement]:
    """Return the statements on a study, with the threshold in short and alpha at the recommended settings."""
    said = [one for one in found.said if one.leads_to != "Threshold"]
    return said if found.advice is None or found.advice.settings is None else [*said, *_advised(found, found.advice)]


def _advised(found: Study, advice: ThresholdAdvice) -> Iterator[Statement]:
    yield Statement(advice.short, "Threshold")
    settings, there = advice.settings or {}, found.advised
    threshold = float(settings["threshold"])
    what = f"With {settings['similarity']} and threshold {alpha_text(threshold)}, which the calibration recommends,"
    if there is None:
        text = f"{what} alpha is not computed here: it takes a new run."
    elif alpha_text(there.threshold) == alpha_text(threshold):
        text = f"{what} alpha would be {with_interval(there.alpha, there.interval)}."
    else:
        near = f"{with_interval(there.alpha, there.interval)}, its value at {alpha_text(there.threshold)}"
        text = f"{what} alpha would be about {near}."
    yield Statement(text, "Threshold")


def next_steps(
    said: Sequence[Statement], open_disputes: int = 0, advice: ThresholdAdvice | None = None, drawn: bool = False
) -> list[str]:
    r"""Return recommended next steps, most useful first.

    Examples
    --------
    >>> print("\n".join(next_steps([Statement("Hardest class: cat.", "Classes", {"category": "cat"})])))
    Say in the annotation guideline what counts as cat, with examples: raters agree on it least.
    Quote a number with how it was computed, and with its limitations: both are at the end of the report.
    """
    steps = []
    if open_disputes:
        where = "; the report draws some, under Agreement" if drawn else ""
        what = number_of(open_disputes, "object")
        steps.append(f"Decide the {what} in dispute, those on the images with the lowest agreement first{where}.")
    for name in _hardest(said):
        steps.append(f"Say in the annotation guideline what counts as {name}, with examples: raters agree on it least.")
    habits = [one for one in said if one.leads_to == "Raters" and "kind" in one.arguments]
    who = list(dict.fromkeys(plain(str(one.arguments["rater"])) for one in habits))[:FEW_HABITS]
    if who:
        steps.append(f"Show {_together(who)} their own page of the report: each difference has an example.")
    if advice is not None and advice.settings is not None:
        what = f"{advice.settings['similarity']} and threshold {alpha_text(float(advice.settings['threshold']))}"
        steps.append(f"Compute agreement again with {what}.")
    return [
        *steps,
        "Quote a number with how it was computed, and with its limitations: both are at the end of the report.",
    ]


@checked
def steps_of(found: Study) -> list[str]:
    """Return recommended next steps for a study."""
    return next_steps(found.said, found.open_disputes or 0, found.advice, bool(found.worst))


def _hardest(said: Sequence[Statement]) -> list[str]:
    """Name of the class or question with the lowest agreement, as a list."""
    names = [
        one.arguments.get("category", one.arguments.get("question")) for one in said if one.text.startswith(HARDEST)
    ]
    return [plain(str(name)) for name in names if name is not None][:1]


def _together(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def methods(lines: Sequence[Block], cited: Iterable[str], limitations: Iterable[str]) -> Iterator[Section]:
    """Yield sections on methods, cited sources and limitations."""
    yield Section("Methods", [*lines, Heading("Sources"), Items(list(dict.fromkeys(cited)))])
    yield Section("Limitations", [Items(list(dict.fromkeys(limitations)))])
