"""Files that are there whole or not at all, and the versions that go into them."""

import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that it is there whole or not at all, whenever the process dies."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with open(partial, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def versions(more: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions that results may depend on, and those of more packages where they are installed."""
    found = {name: version(name) for name in ("semikpca", "numpy", "scipy", "scikit-learn")}
    for name in more:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {"python": platform.python_version(), **found}
