"""Estimated truth: the run that writes a consensus of several raters, of pixels or of objects, and its figures."""
