"""How far an analysis has come."""

READING, COMPARING, WRITING = 0.0, 0.2, 0.7
"""Share of the work done when each step begins."""
