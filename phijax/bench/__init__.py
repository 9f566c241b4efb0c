"""Benchmarks: what a training step costs, and what error is reached in what time."""
