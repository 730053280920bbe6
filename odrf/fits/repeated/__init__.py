"""Looking for repeated measurements in the data of a fit that was made without groups."""
