"""Packages with data that are missing, or not what they were."""

from packaged_data import changed_file, no_package  # noqa: F401  (fixtures)
