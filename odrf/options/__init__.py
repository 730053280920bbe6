"""Options: as the user gave them, and checked and resolved for the data at hand."""
