"""Forests of rows that come in chunks: grown, judged and predicting in passes over the chunks."""
