"""Bundled data sets, and data frames made of images."""

from odrf.datasets.images import from_images
from odrf.datasets.tables import data_names, load_data

__all__ = ["data_names", "from_images", "load_data"]
