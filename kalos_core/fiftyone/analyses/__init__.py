"""All runs of a set of labels at once, the same again, and two beside each other."""
