"""Files that should be tables: see tests/fuzz/tables_target.py."""

from _driver import main

FORMATS = {".csv": b"c", ".tsv": b"t", ".jsonl": b"j", ".npy": b"y", ".npz": b"z", ".xlsx": b"x", ".parquet": b"p"}


def as_seed(path):
    """Return a file of the corpus with the letter in front that tells its format."""
    return FORMATS[path.suffix] + path.read_bytes()


if __name__ == "__main__":
    main("tables", as_seed=as_seed)
