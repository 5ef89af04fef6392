"""Files that are there whole or not at all, and the versions that go into them."""

import errno
import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# What file systems answer that take care of names by themselves, or not at all.
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES}


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that it is there whole or not at all, whenever the process dies, and stays once this returns.

    A process that is killed may leave ``.NAME.partial`` behind. Nothing reads it, and the next write of the same file
    takes its place.
    """
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
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Put the new name on disk too: until then a power cut could bring the earlier file back."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # Windows opens no folders, and a folder may be writable without being readable
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def versions(more: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions that results may depend on, and those of more packages where they are installed."""
    found = {name: version(name) for name in ("semikpca", "numpy", "scipy", "scikit-learn")}
    for name in more:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {"python": platform.python_version(), **found}
