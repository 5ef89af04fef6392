"""Labels of every kind through three classifiers: see tests/fuzz/labels_target.py."""

from _driver import main

if __name__ == "__main__":
    main("labels")
