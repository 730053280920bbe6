"""The form of files of fits."""
