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
        "Each bar: how many images have that alpha. Right: the same objects and classes; at 0 or below: no better"
        " than chance.",
        "α = 1 − observed / expected disagreement (Krippendorff) of each image, at most 1, undefined without a "
        "pair of values. Lines: mean (solid), median (dashed), α of all units at once (dotted). KαLOS §3.3, Fig. "
        "20. " + BAND_SOURCES,
    ),
    "scale": Caption(
        "Your labels stand out beside published ones. Pale: found with another similarity, not comparable with yours.",
        "Mean α over images, at most 1, with its 95 % bootstrap interval over images. Values of another "
        "similarity or threshold answer another question. KαLOS §14. " + BAND_SOURCES,
    ),
    "sensitivity": Caption(
        "What falls from left to right is lost to loose outlines; what is missing from 1 at the left, to other "
        "objects or classes.",
        "Mean α, at most 1, when two annotations need at least similarity τ_s to be the same object; grey: 95 % "
        "bootstrap interval over images. Anchor: τ*_s chosen from a calibration, else the threshold of the run. "
        "KαLOS §13.",
    ),
    "classes": Caption(
        "Short bars: classes that raters do not agree about, each with the number of its images.",
        "Mean over images of α of the units in which somebody chose the class, at most 1; whiskers: 95 % "
        "bootstrap interval over images. KαLOS §13.",
    ),
    "vitality": Caption(
        "Right of zero: this rater brings the others together. Left: they agree better without. Across zero: unclear.",
        "α of all raters − α without this one, matched again, mean over images, from −2 to 2; whiskers: 95 % "
        "bootstrap interval over images. KαLOS §13.",
    ),
    "collaboration": Caption(
        "How far every two raters agree; in the matrix those who label alike stand next to each other.",
        "α of each two raters, matched on these alone, at most 1: above the diagonal the mean over images, below "
        "it all units at once. Order: average linkage on 1 − mean α. KαLOS §13.",
    ),
    "intra_rater": Caption(
        "Long bars: raters who label an image the same way when they see it again.",
        "Mean over images of α of a rater's own sessions, matched on these alone, at most 1. KαLOS §13.",
    ),
    "team": Caption(
        "Each bar: how far all raters agree in one session. Growing from session to session, the team comes together.",
        "Mean over images of α of all raters within a session, at most 1. KαLOS §13.",
    ),
    "counts": Caption(
        "Each bar: one way in which annotations of two raters go together, or do not.",
        "A finding: an annotation and its counterpart of another rater, or none, each in one type only, at the "
        "threshold of the run; with several raters, of every two. Counts from 0. Label convergence App. C.",
    ),
    "shares": Caption(
        "The stricter the threshold, the fewer pairs match: up to where do most annotations still have a partner?",
        "Share of each type among all findings, 0 to 100 %, at each least similarity. Equilibrium (dotted): from "
        "there on, more annotations are unmatched than matched. KαLOS Fig. 9.",
    ),
    "boundary": Caption(
        "Left: outlines that nearly coincide. A peak at 0: the very same outline twice, perhaps copied.",
        "1 − similarity of correct findings, 0 to 1 − threshold. Label convergence App. C.",
    ),
    "calibration": Caption(
        "Colour: distances between raters of one image; grey: by chance. The less they overlap, the better the "
        "similarity works.",
        "Distance 1 − similarity to the nearest annotation of another rater, 0 to 1, on one image and on two. τ*:"
        " where the densities cross; KS = sup (F_observed − F_expected), 0 to 1. KαLOS §3.3, §7.2, §11.",
    ),
    "bars": Caption(
        "Bar: where mAP ends up when raters judge each other. A model inside it is as good as these labels can tell.",
        "Modified mAP, 0 to 100: one rater as ground truth, the other as detections, both ways; 95 % interval of "
        "subsets of the images. More than two raters: inferred from α. Label convergence, Table 3.",
    ),
    "sizes": Caption(
        "The last point is all images, the number to quote; the curve shows how far small subsets are from it.",
        "Mean modified mAP, 0 to 100, over subsets of growing size, with their 95 % interval, after label "
        "convergence, Table 3.",
    ),
    "matrix": Caption(
        "The mAP of one rater's labels as detections, with another rater as ground truth. Two who "
        "agree more than the others may reach more than the ceiling, which is of all raters together.",
        "Modified mAP, 0 to 100: all scores .99, COCO protocol. The two directions differ. Label convergence "
        "(WACV 2025).",
    ),
    "scatter": Caption(
        "Each point: a subset of images at one threshold. Along a line, alpha foretells the mAP that labels allow.",
        "mAP = a α + b over subsets and thresholds, by least squares; published: a = 83.6, b = 19.7 points, ρ = "
        ".92, R² = .85. Label convergence App. B.",
    ),
    "kappas": Caption(
        "Short bars: questions that raters answer differently; 0.6 is adequate, 0.8 near perfect.",
        "Free-marginal κ = (P − 1/k) / (1 − 1/k), from −1/(k − 1) to 1, k options (Randolph); whiskers: 95 % "
        "bootstrap interval over images. Nowak & Rüger. " + BAND_SOURCES,
    ),
    "concepts": Caption(
        "Two values far apart: raters agree that a label is absent, and do not agree where it is present.",
        "Share of raters who decide as the majority, 50 to 100 %: over all decisions, and over images where "
        "somebody chose the label. Nowak & Rüger Fig. 4.",
    ),
    "accuracy": Caption(
        "In how many of their answers raters say the same; who has low values only differs from everybody.",
        "Identical answers / answers, 0 to 1, mean over images; majority: of the raters. Nowak & Rüger Eq. 2.",
    ),
    "images": Caption(
        "At the top: the images on which raters differ most, or that synthetic raters changed most.",
        "Share of raters with the majority on the image, 50 to 100 % (Nowak & Rüger Fig. 4); of synthetic raters:"
        " the number of their events on it.",
    ),
    "rejection": Caption(
        "What leaving out doubtful answers does to each question.",
        "Free-marginal κ, at most 1, with all answers and without the rejected. Nowak & Rüger.",
    ),
    "teams": Caption(
        "Two teams, each among themselves, then one against the other.",
        "Free-marginal κ, at most 1, within each team, between them, and of their majorities; whiskers: 95 % "
        "bootstrap interval over images. Nowak & Rüger.",
    ),
    "curve": Caption(
        "When the band is narrow enough, more answers would not change what you know about agreement.",
        "Sparse probability of agreement Σ k P / Σ k over the answers so far, 0 to 1, with its 95 % bootstrap "
        "interval.",
    ),
    "cohen": Caption(
        "How far every two raters agree on this question beyond chance.",
        "Cohen's κ of every two raters, −1 to 1, on the images that both answered.",
    ),
    "skill": Caption(
        "Long bars: raters who are mostly right, judged by the others. A wide whisker: too few answers to tell.",
        "Share of a rater's answers expected to be right, 0 to 1; whiskers: 95 % (Wilson; Louis 1982). Nobody knows "
        "the truth: who agrees with others who are mostly right counts more, until nothing changes (Dawid & Skene "
        "1979; one probability a rater: Zhang et al. 2016). It assumes one true class an image or object, raters who "
        "err independently, and most of them better than chance. Not for two raters an image; for raters who copy, or "
        "were misled together by the same blurred image (they look skilled, and probabilities are too near to 1); "
        "for images on which several answers are right; for grades, where a near miss counts like any other. There "
        "take the majority, and let people decide.",
    ),
    "confusion": Caption(
        "Each row: what raters answer where that class is right. Bright cells off the diagonal: habits to train.",
        "Probability of each answer, given the class, 0 to 1, each row adding up to 1; of all raters: the mean, by "
        "their answers. For each class 4 answers of the average rater are added. Dawid & Skene 1979, §2.",
    ),
    "independence": Caption(
        "All on one level: how many answers an image has says nothing about agreement. A slope: hard images got "
        "more answers.",
        "Mean P = Σ n_c (n_c − 1) / (n (n − 1)) of images by their number of answers n, 0 to 1.",
    ),
    "bump": Caption(
        "Where the order of the models changes between references, who is best depends on whose labels you trust.",
        "Rank of each model under each reference, 1 is best; equal values share a rank. Lampert et al., Nowak & Rüger.",
    ),
    "shared": Caption(
        "Each order that occurs, once: a single one means that all references agree about the order.",
        "The different rankings, each with how many references give it. Ranks from 1. Lampert et al. Table IV.",
    ),
    "tau": Caption(
        "How alike every two references order the models; 1 is the same order.",
        "Kendall's τ between the rankings, −1 to 1. Nowak & Rüger.",
    ),
    "concordance": Caption(
        "Small values above the diagonal: two references order alike; p below it: would random orders be as close?",
        "D: the largest gap between the cumulated ranks of one list in the other's order and the identity, 0 to "
        "1; p from random orders. After Nowak & Rüger; the definition is ours.",
    ),
    "agreement": Caption(
        "Darker curves: only what more raters marked. What many marked should be easier to find.",
        "Precision averaged over the share of positives, over recall, both 0 to 1, under what at least 1, 2, ... "
        "raters marked. Of masks without score maps: mean F1 of every two raters, 0 to 1. Lampert et al.",
    ),
    "tree": Caption(
        "Raters who mark alike are close to each other; to stand out (orange) is to differ, not to be wrong.",
        "Ward's tree on 1 − F1, 0 and more; orange: mean 1 − F1 above the mean of all by more than one standard "
        "deviation. Lampert et al. §III-D.",
    ),
    "ratio": Caption(
        "The last value: how much of what anybody marked all raters marked.",
        "A^(n) = |A ≥ n| / |A > 0|, 0 to 1. Lampert et al. Eq. 3, Fig. 3.",
    ),
    "performance": Caption(
        "Each row is a rater: large values mean close to what half of the raters marked.",
        "Sensitivity: found of what is there. Specificity: left out of what is not. PPV: right of what was "
        "marked. NPV: right of what was left out; 0 to 1. Cohen's κ, −1 to 1. Lampert et al.",
    ),
    "properties": Caption(
        "Long bars: raters agree more where the image is brighter, or has more contrast. Pale: may be chance.",
        "Pearson's r of the share of raters who marked a pixel with properties of the image, −1 to 1; pale: not "
        "significant at 99 %. Neighbouring pixels are not independent. Lampert et al. Table I.",
    ),
    "distances": Caption(
        "Distances are in pixels, means over images with 95 % intervals.",
        "Of every point of either boundary the distance to the nearest of the other. Apart on average: their mean "
        "(average symmetric surface distance). 95 % within: the 95th percentile, the larger of both directions "
        "(Hausdorff 95). Within tolerance: the share of both boundaries that is no further than the tolerance from the "
        "other (surface Dice, Nikolov et al. 2018); 0 where one of two raters has no boundary, which the distances "
        "leave out. Intervals: images drawn with replacement.",
    ),
    "divisions": Caption(
        "A region is the pixels that a rater gave one value. Means over images with 95 % intervals.",
        "What values are called does not count, but which pixels have one in common. Alike: of all pairs of pixels, "
        "how many both raters hold together or both apart, beyond chance (adjusted Rand index, Hubert & Arabie 1985); "
        "1 for equal regions, 0 for chance. Unknown: what either rater's regions leave unknown of the other's, in bits "
        "(variation of information, Meilă 2007); 0 for equal ones. Covered: the IoU of each region with the one that "
        "fits it best, weighted by its pixels (Arbeláez et al. 2011), the mean of both directions. Intervals: images "
        "drawn with replacement.",
    ),
    "against": Caption(
        "Each row is a rater against this reference: large values mean close to it.",
        "Shares of pixels (sensitivity, specificity, PPV, NPV) or of objects (found; annotations that are "
        "objects), 0 to 1; Cohen's κ of pixels, −1 to 1. Lampert et al.",
    ),
    "bounds": Caption(
        "Detectors whose bars do not overlap can be told apart with these labels; ticks: under single raters.",
        "Area under precision over recall, 0 to 1, from the least to the greatest consensus by vote. Lampert et al.",
    ),
    "curves": Caption(
        "One detector, a curve for each reference: the further apart, the more its score depends on who labelled.",
        "Precision averaged over the share of positives, over recall, both 0 to 1, with the area; dashed: "
        "estimated truths. Lampert et al. Eq. 7.",
    ),
    "under": Caption(
        "All detectors under one reference: the highest curve is best.",
        "Precision averaged over the share of positives, over recall, both 0 to 1, with the area. Lampert et al. "
        "Eq. 7, Fig. 6.",
    ),
    "correlations": Caption(
        "The whole image far below where anybody marked: this detector raises false alarms. Empty dots: may be chance.",
        "Pearson's r of a detector's score with the share of raters who marked a pixel, −1 to 1, on what anybody "
        "marked (CCO) and on the image (CCI); empty: not significant at 99 %. Lampert et al. Table III.",
    ),
    "boundaries": Caption(
        "The highest curve finds boundaries best; its dot is the best single threshold.",
        "Boundaries thinned to lines and matched one to one with each rater's, within .0075 of the diagonal; "
        "precision, recall and F1 0 to 1. Berkeley evaluation.",
    ),
    "events": Caption(
        "Each bar: how often generated raters make this mistake; lost: it came too late for its annotation.",
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
        "How many resolved labels raters agree on, and how many were decided in which way.",
        "Counts of labels, from 0; undecided units have what most raters gave, or none, as the run was told.",
    ),
}
"""Captions by figure name of a run; all figures of a calibration, one for each similarity, use ``calibration``."""
