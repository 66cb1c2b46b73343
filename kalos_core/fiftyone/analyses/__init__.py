"""Analyses: compute all runs of a set of labels, update them, summarize, compare and report them."""
