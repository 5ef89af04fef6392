"""The labeling page."""
