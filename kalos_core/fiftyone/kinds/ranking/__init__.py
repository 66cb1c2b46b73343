"""Ranking of classifiers under each rater: the run that computes it, its scores and its plots."""
