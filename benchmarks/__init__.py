"""Benchmarks of speed and memory: each claim is measured against the peer, or against the bare work, in one run."""
