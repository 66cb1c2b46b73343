"""How fast and how large: each claim measured against the peer, or against the bare work, in one run."""
