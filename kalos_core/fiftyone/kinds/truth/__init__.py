"""Estimated truth: the run that writes a consensus of several raters, for pixels or objects, and its figures."""
