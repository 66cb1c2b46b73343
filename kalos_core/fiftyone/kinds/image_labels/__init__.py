"""Agreement on image-level labels: the run that computes it, its stored results, its views and its plots."""
