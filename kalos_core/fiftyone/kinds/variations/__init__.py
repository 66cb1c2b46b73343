"""Variations: the run that names every difference on the labels, its stored results and its views."""
