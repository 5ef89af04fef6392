"""Changed model files: see tests/fuzz/models_target.py."""

from _driver import main

if __name__ == "__main__":
    main("models")
