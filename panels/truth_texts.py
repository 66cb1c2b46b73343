"""The texts of the Truth panel: findings, captions, and the rows of its tables."""

import kalos_core.fiftyone as kf
from kalos_core.figures import significant

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

RATER_COLUMNS = (("rater", "Rater"), *kf.SHARE_LABELS.items(), ("apart", "1 − F1"), ("out", "Stands out"))

AGAINST_COLUMNS = (("rater", "Rater"), *kf.SHARE_LABELS.items(), ("kept", "Kept"))

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
    "tau": "Kendall's τ between the rankings under every two references, −1 to 1: 1 is the same order.",
    "curves": (
        "Precision, averaged over the range of the share of positives, over recall; dashed: estimated truths. A curve "
        "for each reference, with the area under it."
    ),
}
"""Below each figure: what is shown, formula, range, how to read it."""


def pixel_headline(part, metrics, found):
    """`part`: the finding, with a note on Smyth's bound."""
    over = f"{metrics['images']:,} images, {metrics['pixels']:,} pixels"
    of_class = f", class {found['name']}" if len(metrics["classes"]) > 1 else ""
    alone = f"; {found['alone']:,} images of one rater count for nothing" if found["alone"] else ""
    return f"###### {part.title}\n\n{over}{of_class}{alone}. {part.note}"


def rater_rows(raters, found):
    return [
        {
            "rater": name,
            **{share: _short(found[share][code]) for share in kf.SHARE_LABELS},
            "apart": _short(found["mean_difference"][code]),
            "out": "yes" if found["outliers"][code] else "",
        }
        for code, name in enumerate(raters)
    ]


def image_row(image):
    return {"file": image.file, "f1": _short(image.f1), "bound": _percent(image.bound)}


def consensus_headline(metrics, by_name):
    """`by_name`: name of a consensus -> its row of the details."""
    names = ", ".join(f"`{field}`" for field in metrics["fields"].values())
    over = f"{metrics['images']:,} images, {len(metrics['raters']) or 'unnamed'} raters. Fields: {names}"
    return f"###### {_consensus_title(metrics, by_name)}\n\n{over}"


def _consensus_title(metrics, by_name):
    if metrics["of"] == "objects":
        row = next(iter(by_name.values()))
        total = row["objects"] + row["below_quorum"] + row["tied_class"]
        return f"{row['objects']:,} of {total:,} things that anybody annotated are objects at {row['truth']}"
    pixels = {name: row["pixels"] for name, row in by_name.items()}
    least, most = min(pixels, key=pixels.get), max(pixels, key=pixels.get)
    if len(pixels) < 2 or not pixels[least]:
        return f"{pixels[most]:,} pixels are true by {most}"
    return f"{most} marks {significant(pixels[most] / pixels[least])} times as many pixels as {least}"


def consensus_row(row, name):
    if "objects" in row:
        counts = {"objects": row["objects"], "below": row["below_quorum"], "tied": row["tied_class"]}
        numbers = {key: f"{count:,}" for key, count in counts.items()}
        return {"consensus": name, **numbers, "score": significant(row["score"])}
    known = [value for value in row["kappa"] if value is not None]
    kappa = f"{_short(min(known))} to {_short(max(known))}" if known else "undefined"
    empty = f"{row['empty']:,} of {row['images']:,}"
    return {"consensus": name, "pixels": f"{row['pixels']:,}", "empty": empty, "kappa": kappa}


def against_rows(raters, row):
    shares = [name for name in (*kf.SHARE_LABELS, "kept") if name in row]
    return [{"rater": name} | {share: _short(row[share][code]) for share in shares} for code, name in enumerate(raters)]


def notes(notes):
    """Notes on single images, the first of them."""
    if not notes:
        return ""
    lines = "\n".join(f"- {entry['image']}, {entry['truth']}: {entry['note']}" for entry in notes[:MOST_NOTES])
    more = f"\n- and {len(notes) - MOST_NOTES:,} more" if len(notes) > MOST_NOTES else ""
    return f"**To know**\n\n{lines}{more}"


def detector_text(metrics, details):
    references = f"{len(metrics['truths'])} references, of which {len(metrics['raters'])} are raters"
    text = f"{len(metrics['detectors'])} detectors under {references}; by {metrics['measure']}"
    if metrics["of"] == "objects":
        return text + "."
    low, high = details["skew"]
    return f"{text}; precision averaged over {_percent(low)} to {_percent(high)} positives."


def rank_rows(metrics):
    return [
        {"reference": reference}
        | {
            f"d{index}": "undefined" if value is None else f"{significant(value)} ({rank:g})"
            for index, (value, rank) in enumerate(zip(values, ranks, strict=True))
        }
        for reference, values, ranks in zip(metrics["truths"], metrics["values"], metrics["ranks"], strict=True)
    ]


def _short(value):
    return "–" if value is None or value != value else f"{value:.3f}"


def _percent(value):
    return "undefined" if value is None else f"{significant(100 * value)} %"
