"""How fast and how large: each claim measured beside the peer, or beside the bare work, in one run."""
