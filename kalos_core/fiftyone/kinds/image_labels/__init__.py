"""Image-level labels: how far raters agree on them, what a run of it stores, its views and plots."""
