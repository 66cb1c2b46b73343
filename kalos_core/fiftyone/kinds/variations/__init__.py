"""Variations: every difference named on the labels, its views and what a run of it stores."""
