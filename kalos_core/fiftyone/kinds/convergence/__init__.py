"""Label convergence: the mAP that disagreement lets a model reach."""
