"""Label convergence: the mAP that a model can reach, given the disagreement of raters."""
