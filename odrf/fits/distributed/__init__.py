"""Forests of rows in partitions, grown, judged and predicting on the workers of a cluster."""
