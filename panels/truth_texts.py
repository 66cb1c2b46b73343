"""The texts of the Truth panel: findings, captions, and the rows of its tables."""

from kalos_core.display import alpha_text, percent_text, significant

NOTHING_YET = {
    "pixels": (
        "**Agreement about pixels**\n\nNothing is computed yet. Raters who mark pixels of the same image differ at "
        "edges and on whole objects. This shows how far, who stands out, and where: each image has a map of how many "
        "raters marked each pixel."
    ),
    "truth": (
        "**Estimated truth**\n\nNothing is estimated yet. The ground truth can be estimated from several raters in "
        "many ways: by vote, or by weighing raters as STAPLE does. Each consensus becomes a field next to the raters', "
        "which are compared with it."
    ),
    "detectors": (
        "**Detectors under each reference**\n\nNothing is ranked yet. The best detector under one rater's labels may "
        "not be the best under another's. Score maps (Heatmap fields) or labels with a confidence are ranked under "
        "every rater and under each estimated truth."
    ),
}

SHARES = {"sensitivity": "Sens.", "specificity": "Spec.", "ppv": "PPV", "npv": "NPV", "kappa": "κ"}
"""What is known of a rater against a consensus of pixels -> how its column is called."""

RATER_COLUMNS = (("rater", "Rater"), *SHARES.items(), ("apart", "1 − F1"), ("out", "Stands out"))

AGAINST_COLUMNS = (("rater", "Rater"), *SHARES.items(), ("kept", "Kept"))

OBJECT_COLUMNS = (("rater", "Rater"), ("sensitivity", "Objects found"), ("ppv", "Annotations that are objects"))

IMAGE_COLUMNS = (("file", "Image"), ("f1", "Mean F1"), ("bound", "Smyth bound"))

CONSENSUS_COLUMNS = (
    ("consensus", "Consensus"),
    ("pixels", "Pixels"),
    ("empty", "Images without any"),
    ("kappa", "κ of raters"),
)

OBJECT_CONSENSUS_COLUMNS = (
    ("consensus", "Consensus"),
    ("objects", "Objects"),
    ("below", "Below quorum"),
    ("tied", "Tied class"),
    ("score", "Mean score"),
)

MOST_ROWS, MOST_NOTES = 50, 10

CAPTIONS = {
    "tree": (
        "Ward's tree on 1 − F1 between raters; orange: mean 1 − F1 above the mean of all by more than one standard "
        "deviation. Standing out is not being wrong. **Click a rater to see their images, least agreement first.**"
    ),
    "ratio": "Of the pixels that anybody marked, the share that at least n raters marked, 0 to 1 (Lampert, Eq. 3).",
    "properties": (
        "Pearson's r of the share of raters who marked a pixel with properties of the image, −1 to 1. Neighbouring "
        "pixels are not independent: small values mean little. Pale: not significant at 99 %."
    ),
    "against": "Each rater against this consensus, over all images: shares of pixels, and Cohen's κ.",
    "against_objects": "Shares of objects and of annotations, 0 to 1.",
    "bump": "Rank of each detector under each reference, 1 on top; a gap where a reference has nothing to be found.",
    "bounds": (
        "Bars: area from the least to the greatest consensus by vote; ticks: under each rater. Detectors whose bars "
        "lie apart can be told apart, as far as these bounds hold."
    ),
    "shared": "The different rankings there are, each with the references that give it.",
    "agreement": (
        "The same under what at least 1, 2, ... of the raters marked, the darker the more: what many marked is easier "
        "to find."
    ),
    "under": "All detectors under one reference, with the area under each curve.",
    "correlations": (
        "Pearson's r of a detector's score with the share of raters who marked a pixel, −1 to 1; empty: not "
        "significant at 99 %. Far less on the whole image than where anybody marked: false alarms."
    ),
    "boundaries": (
        "Berkeley evaluation: boundaries thinned to lines and matched one to one with each rater's, as the threshold "
        "falls. Dots: best F1 at one threshold for all images (ODS)."
    ),
    "tau": "Kendall's τ between the rankings under every two references, −1 to 1: 1 is the same order.",
    "curves": (
        "Precision, averaged over the range of the share of positives, over recall; dashed: estimated truths. A curve "
        "for each reference, with the area under it."
    ),
}
"""Below each figure: what is shown, formula, range, how to read it."""


def pixel_headline(part, metrics, found, of_class):
    """`part`: the finding, with a note on Smyth's bound; `of_class`: "" where there is one class."""
    over = f"{metrics['images']:,} images, {metrics['pixels']:,} pixels"
    over += f", class {of_class}" if of_class else ""
    alone = f"; {found.alone:,} images of one rater count for nothing" if found.alone else ""
    return f"###### {part.title}\n\n{over}{alone}. {part.note}"


def rater_rows(found):
    rows = _by_rater(found.raters, _shares(found.performance) | {"apart": found.mean_difference})
    return [row | {"out": "yes" if out else ""} for row, out in zip(rows, found.outliers, strict=True)]


def _shares(performance):
    return {name: getattr(performance, name) for name in SHARES}


def _by_rater(raters, columns):
    return [
        {"rater": name} | {key: _short(column[at]) for key, column in columns.items()} for at, name in enumerate(raters)
    ]


def image_row(image):
    return {"file": image.file, "f1": _short(image.f1), "bound": _percent(image.bound)}


def consensus_headline(metrics, truths):
    names = ", ".join(f"`{field}`" for field in metrics["fields"].values())
    over = f"{metrics['images']:,} images, {len(metrics['raters']) or 'unnamed'} raters. Fields: {names}"
    return f"###### {_consensus_title(metrics, truths)}\n\n{over}"


def _consensus_title(metrics, truths):
    if metrics["of"] == "objects":
        name, found = next(iter(truths.items()))
        total = sum(found.counts.values())
        return f"{found.counts['kept']:,} of {total:,} things that anybody annotated are objects at {name}"
    pixels = {name: found.pixels for name, found in truths.items()}
    least, most = min(pixels, key=pixels.get), max(pixels, key=pixels.get)
    if len(pixels) < 2 or not pixels[least]:
        return f"{pixels[most]:,} pixels are true by {most}"
    return f"{most} marks {significant(pixels[most] / pixels[least], 2)} times as many pixels as {least}"


def consensus_rows(metrics, truths):
    row = _pixel_row if metrics["of"] == "pixels" else _object_row
    return [{"consensus": name} | row(found) for name, found in truths.items()]


def _pixel_row(found):
    known = [value for value in found.performance.kappa.tolist() if value == value]
    kappa = f"{_short(min(known))} to {_short(max(known))}" if known else "undefined"
    return {"pixels": f"{found.pixels:,}", "empty": f"{found.empty:,} of {found.images:,}", "kappa": kappa}


def _object_row(found):
    columns = {"objects": "kept", "below": "below quorum", "tied": "tied class"}
    numbers = {key: f"{found.counts[outcome]:,}" for key, outcome in columns.items()}
    return numbers | {"score": alpha_text(found.score, 3)}


def against_rows(metrics, found):
    if metrics["of"] == "pixels":
        return _by_rater(metrics["raters"], _shares(found.performance) | {"kept": found.kept_share})
    return _by_rater(metrics["raters"], {"sensitivity": found.sensitivity, "ppv": found.ppv})


def notes(notes):
    """Notes on single images, the first of them."""
    if not notes:
        return ""
    lines = "\n".join(f"- {note}" for note in notes[:MOST_NOTES])
    more = f"\n- and {len(notes) - MOST_NOTES:,} more" if len(notes) > MOST_NOTES else ""
    return f"**To know**\n\n{lines}{more}"


def detector_text(metrics, ranking):
    references = f"{len(metrics['truths'])} references, of which {len(metrics['raters'])} are raters"
    text = f"{len(metrics['detectors'])} detectors under {references}; by {metrics['measure']}"
    if metrics["of"] == "objects":
        return text + "."
    low, high = ranking.skew
    return f"{text}; precision averaged over {_percent(low)} to {_percent(high)} positives."


def rank_rows(metrics):
    return [
        {"reference": reference}
        | {
            f"d{index}": "undefined" if value is None else f"{alpha_text(value, 3)} ({rank:g})"
            for index, (value, rank) in enumerate(zip(values, ranks, strict=True))
        }
        for reference, values, ranks in zip(metrics["truths"], metrics["values"], metrics["ranks"], strict=True)
    ]


def _short(value):
    return "–" if value is None or value != value else alpha_text(value, 3)


def _percent(value):
    return "undefined" if value is None else percent_text(value)
