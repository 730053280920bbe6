"""The design of rows that come in chunks.

The rows are cut anew into blocks of one size, so that nothing depends on the chunks.  A first pass
keeps the few rows that tell all that a design has to know (`odrf.design.streamed.telling_rows`);
the design is learned from these as from any data frame.
"""
