"""Precomputed kernel matrices of every kind: see tests/fuzz/matrices_target.py."""

from _driver import main

if __name__ == "__main__":
    main("matrices")
