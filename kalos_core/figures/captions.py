"""Captions of figures, shown above each figure and in its help: how to read it, and what is computed."""

from __future__ import annotations

from dataclasses import dataclass

from kalos_core._agreement import BAND_SOURCES


@dataclass(frozen=True)
class Caption:
    """Reading aid and formula of a figure.

    Parameters
    ----------
    read : str
        One line of at most 130 characters, in everyday terms.
    formula : str
        Formula, range and source.
    """

    read: str
    formula: str


CAPTIONS = {
    "histogram": Caption(
        "Each bar: number of images with that alpha. Right: same objects and classes; 0 or below: no better than "
        "chance.",
        "α = 1 − observed / expected disagreement (Krippendorff) of each image, at most 1, undefined without a "
        "pair of values. Lines: mean (solid), median (dashed), α of all units at once (dotted). KαLOS §3.3, Fig. "
        "20. " + BAND_SOURCES,
    ),
    "scale": Caption(
        "Your labels among published ones. Pale: found with another similarity, not comparable with yours.",
        "Mean α over images, at most 1, with its 95 % bootstrap interval over images. Compare only values with "
        "the same similarity and threshold. KαLOS §14. " + BAND_SOURCES,
    ),
    "sensitivity": Caption(
        "The decrease from left to right is due to imprecise outlines; the gap to 1 at the left, to objects and "
        "classes.",
        "Mean α, at most 1, when two annotations need at least similarity τ_s to be the same object; grey: 95 % "
        "bootstrap interval over images. Anchor: τ*_s chosen from a calibration, else the threshold of the run. "
        "KαLOS §13.",
    ),
    "classes": Caption(
        "Short bars: classes that raters disagree on, with their numbers of images.",
        "Mean over images of α of the units in which a rater chose the class, at most 1; whiskers: 95 % bootstrap"
        " interval over images. KαLOS §13.",
    ),
    "vitality": Caption(
        "Right of zero: agreement is higher with this rater. Left: higher without. Interval across zero: unclear.",
        "α of all raters − α without this one, rematched, mean over images, from −2 to 2; whiskers: 95 % "
        "bootstrap interval over images. KαLOS §13.",
    ),
    "collaboration": Caption(
        "Agreement of every two raters. In the matrix, similar raters are next to each other.",
        "α of each two raters, matched on these alone, at most 1: above the diagonal the mean over images, below "
        "it all units at once. Order: average linkage on 1 − mean α. KαLOS §13.",
    ),
    "intra_rater": Caption(
        "Long bars: raters who label an image the same way when they see it again.",
        "Mean over images of α of a rater's own sessions, matched on these alone, at most 1. KαLOS §13.",
    ),
    "team": Caption(
        "Each bar: agreement of all raters in one session. Bars that grow from session to session: the team converges.",
        "Mean over images of α of all raters within a session, at most 1. KαLOS §13.",
    ),
    "counts": Caption(
        "Each bar: one type of match or difference between annotations of two raters.",
        "A finding: an annotation with its counterpart of another rater, if any. Each has one type, at the "
        "threshold of the run; with several raters, of every two. Counts from 0. Label convergence App. C.",
    ),
    "shares": Caption(
        "The stricter the threshold, the fewer pairs match. Up to which threshold do most annotations have a match?",
        "Share of each type among all findings, 0 to 100 %, at each threshold. Equilibrium (dotted): from there "
        "on, more annotations are unmatched than matched. KαLOS Fig. 9.",
    ),
    "boundary": Caption(
        "Left: outlines that nearly coincide. A peak at 0: identical outlines, possibly copies.",
        "1 − similarity of correct findings, 0 to 1 − threshold. Label convergence App. C.",
    ),
    "calibration": Caption(
        "Colour: distances between raters of one image; grey: by chance. The less they overlap, the better the "
        "similarity.",
        "Distance 1 − similarity to the nearest annotation of another rater, 0 to 1, on the same image and on "
        "different images. τ*: where the densities cross; KS = sup (F_observed − F_expected), 0 to 1. KαLOS §3.3,"
        " §7.2, §11.",
    ),
    "bars": Caption(
        "Bar: mAP of raters against one another. A model within it is as good as these labels can show.",
        "Modified mAP, 0 to 100: one rater as ground truth, the other as detections, both ways; 95 % interval of "
        "subsets of the images. More than two raters: inferred from α. Label convergence, Table 3.",
    ),
    "sizes": Caption(
        "The last point, all images, is the number to quote; the curve shows how far small subsets are from it.",
        "Mean modified mAP, 0 to 100, over subsets of growing size, with their 95 % interval, after label "
        "convergence, Table 3.",
    ),
    "matrix": Caption(
        "mAP of one rater's labels with another rater as ground truth. Similar raters may exceed the ceiling of "
        "all raters.",
        "Modified mAP, 0 to 100: all scores .99, COCO protocol. The two directions differ. Label convergence "
        "(WACV 2025).",
    ),
    "scatter": Caption(
        "Each point: a subset of images at one threshold. Along a line, alpha predicts the mAP that labels allow.",
        "mAP = a α + b over subsets and thresholds, by least squares; published: a = 83.6, b = 19.7 points, ρ = "
        ".92, R² = .85. Label convergence App. B.",
    ),
    "kappas": Caption(
        "Short bars: questions that raters answer differently; 0.6 is adequate, 0.8 near perfect.",
        "Free-marginal κ = (P − 1/k) / (1 − 1/k), from −1/(k − 1) to 1, k options (Randolph); whiskers: 95 % "
        "bootstrap interval over images. Nowak & Rüger. " + BAND_SOURCES,
    ),
    "concepts": Caption(
        "Two values far apart: raters agree where a label is absent, but not where it is present.",
        "Share of raters who decide as the majority, 50 to 100 %: over all decisions, and over images where a "
        "rater chose the label. Nowak & Rüger Fig. 4.",
    ),
    "accuracy": Caption(
        "Share of equal answers of every two raters. A rater with low values only differs from all others.",
        "Identical answers / answers, 0 to 1, mean over images; majority: of the raters. Nowak & Rüger Eq. 2.",
    ),
    "images": Caption(
        "At the top: the images on which raters differ most, or that synthetic raters changed most.",
        "Share of raters with the majority on the image, 50 to 100 % (Nowak & Rüger Fig. 4); of synthetic raters:"
        " the number of their events on it.",
    ),
    "rejection": Caption(
        "Effect of excluding doubtful answers on each question.",
        "Free-marginal κ, at most 1, with all answers and without the rejected ones. Nowak & Rüger.",
    ),
    "teams": Caption(
        "Agreement within each of two teams, then between them.",
        "Free-marginal κ, at most 1, within each team, between them, and of their majorities; whiskers: 95 % "
        "bootstrap interval over images. Nowak & Rüger.",
    ),
    "curve": Caption(
        "Once the band is narrow enough, more answers would not change the estimate of agreement.",
        "Sparse probability of agreement Σ k P / Σ k over the answers so far, 0 to 1, with its 95 % bootstrap "
        "interval.",
    ),
    "cohen": Caption(
        "Agreement of every two raters on this question, corrected for chance.",
        "Cohen's κ of every two raters, −1 to 1, on the images that both answered.",
    ),
    "skill": Caption(
        "Long bars: raters who are mostly right, judged by the others. A wide whisker: too few answers to tell.",
        "Share of a rater's answers expected to be right, 0 to 1; whiskers: 95 % (Wilson; Louis 1982). Without "
        "ground truth, raters who agree with others who are mostly right count more, until nothing changes (Dawid"
        " & Skene 1979; one probability per rater: Zhang et al. 2016). Assumes one true class per image or "
        "object, raters who err independently, and most of them better than chance. Not for two raters per image;"
        " for raters who copy, or were misled together by the same blurred image (they look skilled, and "
        "probabilities are too close to 1); for images with several right answers; for grades, where a near miss "
        "counts like any other error. In these cases use the majority, and let people decide.",
    ),
    "confusion": Caption(
        "Each row: answers of raters where that class is right. Bright cells off the diagonal: confusions to train.",
        "Probability of each answer, given the class, 0 to 1; each row sums to 1. For all raters: the mean, "
        "weighted by their answers. For each class, 4 answers of the average rater are added. Dawid & Skene 1979,"
        " §2.",
    ),
    "independence": Caption(
        "Level: agreement does not depend on the number of answers. A slope: hard images got more answers.",
        "Mean P = Σ n_c (n_c − 1) / (n (n − 1)) of images by their number of answers n, 0 to 1.",
    ),
    "bump": Caption(
        "If the order of the models changes between references, the best model depends on whose labels you trust.",
        "Rank of each model under each reference, 1 is best; equal values share a rank. Lampert et al., Nowak & Rüger.",
    ),
    "shared": Caption(
        "Each distinct order of the models. If there is only one, all references agree on it.",
        "Distinct rankings, each with the number of references that give it. Ranks from 1. Lampert et al. Table IV.",
    ),
    "tau": Caption(
        "Similarity of the orders of models under every two references; 1 is the same order.",
        "Kendall's τ between the rankings, −1 to 1. Nowak & Rüger.",
    ),
    "concordance": Caption(
        "Above the diagonal: distance between the orders of two references. Below: p-value against random orders.",
        "D: the largest gap between the cumulated ranks of one list in the other's order and the identity, 0 to "
        "1; p from random orders. After Nowak & Rüger; the definition is ours.",
    ),
    "agreement": Caption(
        "Darker curves: only pixels that more raters marked. These should be easier to find.",
        "Precision averaged over the share of positives, over recall, both 0 to 1, for pixels that at least 1, 2,"
        " ... raters marked. For masks without score maps: mean F1 of every two raters, 0 to 1. Lampert et al.",
    ),
    "tree": Caption(
        "Raters who mark similar pixels are close to each other. Outliers (orange) differ, but need not be wrong.",
        "Ward's tree on 1 − F1, 0 and more; orange: mean 1 − F1 above the mean of all by more than one standard "
        "deviation. Lampert et al. §III-D.",
    ),
    "ratio": Caption(
        "The last value: share of all marked pixels that all raters marked.",
        "A^(n) = |A ≥ n| / |A > 0|, 0 to 1. Lampert et al. Eq. 3, Fig. 3.",
    ),
    "performance": Caption(
        "Each row: one rater. Large values: close to the pixels that half of the raters marked.",
        "Sensitivity: marked share of the true pixels. Specificity: unmarked share of the others. PPV: true share"
        " of the marked pixels. NPV: untrue share of the unmarked pixels; 0 to 1. Cohen's κ, −1 to 1. Lampert et "
        "al.",
    ),
    "properties": Caption(
        "Long bars: raters agree more where the image is brighter, or has more contrast. Pale: may be chance.",
        "Pearson's r of the share of raters who marked a pixel with properties of the image, −1 to 1; pale: not "
        "significant at 99 %. Neighbouring pixels are not independent. Lampert et al. Table I.",
    ),
    "distances": Caption(
        "Distances are in pixels, means over images with 95 % intervals.",
        "Distances from every point of each boundary to the nearest point of the other. Apart on average: their mean "
        "(average symmetric surface distance). 95 % within: the 95th percentile, the larger of both directions "
        "(Hausdorff 95). Within tolerance: the share of both boundaries that is no further than the tolerance from the "
        "other (surface Dice, Nikolov et al. 2018). If one of two raters has no boundary, it is 0, and the pair has no "
        "distances. Intervals: bootstrap over images.",
    ),
    "divisions": Caption(
        "A region is the pixels that a rater gave one value. Means over images with 95 % intervals.",
        "Values of regions are ignored; only their pixels count. Alike: of all pairs of pixels, the share that "
        "both raters put into one region or both into two, beyond chance (adjusted Rand index, Hubert & Arabie "
        "1985); 1 for equal regions, 0 for chance. Unknown: information that the regions of either rater do not "
        "give about those of the other, in bits (variation of information, Meilă 2007); 0 for equal regions. "
        "Covered: IoU of each region with its best match, weighted by pixels (Arbeláez et al. 2011), mean of both "
        "directions. Intervals: bootstrap over images.",
    ),
    "against": Caption(
        "Each row: one rater compared with this reference. Large values: close to it.",
        "Shares of pixels (sensitivity, specificity, PPV, NPV) or of objects (found; annotations that are "
        "objects), 0 to 1; Cohen's κ of pixels, −1 to 1. Lampert et al.",
    ),
    "bounds": Caption(
        "Detectors whose bars do not overlap can be told apart with these labels; ticks: under single raters.",
        "Area under precision over recall, 0 to 1, from the smallest to the largest consensus by vote. Lampert et al.",
    ),
    "curves": Caption(
        "One detector, one curve for each reference. The further apart, the more its score depends on who labelled.",
        "Precision averaged over the share of positives, over recall, both 0 to 1, with the area; dashed: "
        "estimated references. Lampert et al. Eq. 7.",
    ),
    "under": Caption(
        "All detectors under one reference: the highest curve is best.",
        "Precision averaged over the share of positives, over recall, both 0 to 1, with the area. Lampert et al. "
        "Eq. 7, Fig. 6.",
    ),
    "correlations": Caption(
        "Whole image far below marked pixels: this detector raises false alarms. Empty dots: may be chance.",
        "Pearson's r of a detector's score with the share of raters who marked a pixel, −1 to 1, on all marked "
        "pixels (CCO) and on the whole image (CCI); empty: not significant at 99 %. Lampert et al. Table III.",
    ),
    "boundaries": Caption(
        "The highest curve finds boundaries best; its dot is the best single threshold.",
        "Boundaries thinned to lines and matched one to one with each rater's, within .0075 of the diagonal; "
        "precision, recall and F1 0 to 1. Berkeley evaluation.",
    ),
    "events": Caption(
        "Each bar: how often generated raters make this mistake. Lost: too late, its annotation had already changed.",
        "Number of events of each kind: done, lost, impossible. Counts from 0. KαLOS §9.",
    ),
    "loss": Caption(
        "The more noise, the more events meet an annotation that another event already changed.",
        "Signal loss: lost / attempted events of the first three stages, 0 to 100 %, over the magnitude λ. KαLOS "
        "Table 3.",
    ),
    "fidelity": Caption(
        "Inside the interval: generated raters differ from each other as the real ones do; outside: they do not.",
        "Mean over draws against the 95 % bootstrap interval of the real raters; 0 and 1 are its ends. KαLOS §9.",
    ),
    "origins": Caption(
        "Number of resolved labels that raters agree on, and that were decided, by kind of decision.",
        "Counts of labels, from 0; undecided units have the label of most raters, or none, depending on the "
        "settings of the run.",
    ),
}
"""Captions by figure name of a run; all figures of a calibration, one for each similarity, use ``calibration``."""
