"""Analyses: compute all runs of a set of labels, update them, summarise, compare and report them."""
