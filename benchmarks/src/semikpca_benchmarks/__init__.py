"""Benchmarks of semikpca: its accuracy, time and memory beside what else one can install."""

__version__ = "0.1.0"
