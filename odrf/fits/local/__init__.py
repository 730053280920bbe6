"""What can be said of the prediction of one row."""
