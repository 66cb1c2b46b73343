"""Agreement: the run that matches raters, its diagnostics, views and what is seen of one sample."""
