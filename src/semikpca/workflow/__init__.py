"""From a table to labels: fit, read off, keep."""
