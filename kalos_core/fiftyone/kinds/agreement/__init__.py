"""Agreement: the run that matches raters, its diagnostics, its views, and reports on single samples."""
