"""Agreement about pixels: the run that compares masks, its metrics by class, its views and figures."""
