"""Rankings of classifiers under each rater: their scores, what a run stores, and its plots."""
