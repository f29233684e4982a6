"""The questions that a probe asks an endpoint, and the grading of its answers."""
