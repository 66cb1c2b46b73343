"""What the Truth panel says: findings, captions, and the rows of its tables."""

from kalos_core.figures import correlation_bars, correlation_title, significant, smyth_title

from .common import Part

NOTHING_YET = {
    "pixels": (
        "**Agreement about pixels**\n\nNothing is computed yet. Raters who mark the same picture differ at edges and "
        "on whole things. This shows how far, who stands out, and where: a map of how many raters marked each pixel "
        "appears beside every picture."
    ),
    "truth": (
        "**Estimated truth**\n\nNothing is estimated yet. From what several raters marked, one truth can be made in "
        "many ways: by vote, or by weighing raters as STAPLE does. Each becomes a field beside the raters', and shows "
        "how raters do beside it."
    ),
    "detectors": (
        "**Detectors under each truth**\n\nNothing is ranked yet. The best detector under one rater's labels may not "
        "be the best under another's. Score maps (Heatmap fields) or labels with a confidence are ranked under every "
        "rater and under estimated truths."
    ),
}

SHARES = {"sensitivity": "Sens.", "specificity": "Spec.", "ppv": "PPV", "npv": "NPV", "kappa": "κ"}

RATER_COLUMNS = (("rater", "Rater"), *SHARES.items(), ("apart", "1 − F1"), ("out", "Stands out"))

BESIDE_COLUMNS = (("rater", "Rater"), *SHARES.items(), ("kept", "Kept"))

OBJECT_COLUMNS = (("rater", "Rater"), ("sensitivity", "Of the objects, drawn"), ("ppv", "Of their marks, objects"))

IMAGE_COLUMNS = (("file", "Image"), ("f1", "Mean F1"), ("bound", "Smyth bound"))

TRUTH_COLUMNS = (("truth", "Truth"), ("pixels", "Pixels"), ("empty", "Images without any"), ("kappa", "κ of raters"))

OBJECT_TRUTH_COLUMNS = (
    ("truth", "Truth"),
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
        "Pearson's r of the share of raters who marked a pixel with properties of the picture, −1 to 1. Pixels side by "
        "side are not independent: small values mean little."
    ),
    "beside": "Each rater beside this truth, over all images: shares of pixels, and Cohen's κ.",
    "bump": "Rank of each detector under each truth, 1 on top; a gap where a truth has nothing to be found.",
    "bounds": (
        "Bars: area from the least to the greatest truth by vote; ticks: under each rater. Detectors whose bars lie "
        "apart can be told apart, as far as these bounds hold."
    ),
    "tau": "Kendall's τ between the rankings under every two truths, −1 to 1: 1 is the same order.",
    "curves": (
        "Precision, averaged over the range of the share of positives, over recall; dashed: estimated truths. A curve "
        "for each truth, with the area under it."
    ),
}
"""Below each figure: what is shown, formula, range, how to read it."""


def pixel_headline(f, row, found):
    title = smyth_title(row["smyth_bound"], len(f["raters"]))
    of_class = f", class {row['name']}" if len(f["classes"]) > 1 else ""
    alone = f"; {found['alone']:,} images of one rater count for nothing" if found["alone"] else ""
    text = (
        f"###### {title}\n\nMean F1 {significant(row['f1'])}; {f['images']:,} images, {f['pixels']:,} pixels"
        f"{of_class}{alone}."
    )
    return text + "".join(f" {note}" for note in found["smyth_notes"])


def properties(records):
    names, values = [record["name"] for record in records], [record["r"] for record in records]
    return Part(
        correlation_title(names, values), correlation_bars(names, values, [record["reason"] for record in records])
    )


def rater_rows(raters, found):
    return [
        {
            "rater": name,
            **{share: _short(found[share][code]) for share in SHARES},
            "apart": _short(found["mean_difference"][code]),
            "out": "yes" if found["outliers"][code] else "",
        }
        for code, name in enumerate(raters)
    ]


def image_row(image):
    return {"file": image.file, "f1": _short(image.f1), "bound": _percent(image.bound)}


def truth_name(row, figures):
    """A truth, of a class where there are several."""
    return f"{row['truth']}, {row['class']}" if len(figures["classes"]) > 1 and "class" in row else row["truth"]


def truth_headline(f, rows):
    names = ", ".join(f"`{field}`" for field in f["fields"].values())
    return f"###### {_truth_title(f, rows)}\n\n{f['images']:,} images, {len(f['raters'])} raters. Fields: {names}"


def _truth_title(f, rows):
    if f["of"] == "objects":
        total = rows[0]["objects"] + rows[0]["below quorum"] + rows[0]["tied class"]
        return f"{rows[0]['objects']:,} of {total:,} things that anybody drew are objects at {rows[0]['truth']}"
    pixels = {truth_name(row, f): row["pixels"] for row in rows}
    least, most = min(pixels, key=pixels.get), max(pixels, key=pixels.get)
    if len(pixels) < 2 or not pixels[least]:
        return f"{pixels[most]:,} pixels are true by {most}"
    return f"{most} marks {significant(pixels[most] / pixels[least])} times as many pixels as {least}"


def object_title(raters, row):
    known = {name: share for name, share in zip(raters, row["sensitivity"], strict=True) if share is not None}
    if not known:
        return "nobody drew an object"
    best, least = max(known, key=known.get), min(known, key=known.get)
    return f"{best} drew most of its objects ({_percent(known[best])}), {least} fewest ({_percent(known[least])})"


def truth_row(row, name):
    if "objects" in row:
        score = significant(row["score"])
        return {"truth": name, "objects": f"{row['objects']:,}", "below": f"{row['below quorum']:,}"} | {
            "tied": f"{row['tied class']:,}",
            "score": score,
        }
    known = [value for value in row["kappa"] if value is not None]
    kappa = f"{_short(min(known))} to {_short(max(known))}" if known else "undefined"
    empty = f"{row['empty']:,} of {row['images']:,}"
    return {"truth": name, "pixels": f"{row['pixels']:,}", "empty": empty, "kappa": kappa}


def beside_rows(raters, row):
    shares = [name for name in (*SHARES, "kept") if name in row]
    return [{"rater": name} | {share: _short(row[share][code]) for share in shares} for code, name in enumerate(raters)]


def notes(notes):
    """What single images say, the first of them."""
    if not notes:
        return ""
    lines = "\n".join(f"- {entry['image']}, {entry['truth']}: {entry['note']}" for entry in notes[:MOST_NOTES])
    more = f"\n- and {len(notes) - MOST_NOTES:,} more" if len(notes) > MOST_NOTES else ""
    return f"**To know**\n\n{lines}{more}"


def detector_text(f, more):
    text = (
        f"{len(f['detectors'])} detectors under {len(f['truths'])} truths, of which {len(f['raters'])} are raters; "
        f"by {f['measure']}"
    )
    if f["of"] == "objects":
        return text + "."
    low, high = more["skew"]
    return f"{text}; precision averaged over {_percent(low)} to {_percent(high)} positives."


def rank_rows(f):
    return [
        {"truth": truth}
        | {
            f"d{place}": "undefined" if value is None else f"{significant(value)} ({rank:g})"
            for place, (value, rank) in enumerate(zip(values, ranks, strict=True))
        }
        for truth, values, ranks in zip(f["truths"], f["values"], f["ranks"], strict=True)
    ]


def _short(value):
    return "–" if value is None or value != value else f"{value:.3f}"


def _percent(value):
    return "undefined" if value is None else f"{significant(100 * value)} %"
