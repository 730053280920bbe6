"""Trees grown on rows that pass by in blocks, and are never all in memory.

Each tree is a task of its own: the rows that it draws come in, and a tree comes out
(`odrf.engine.streamed.growing_apart`).  So tasks can run in threads, or elsewhere.
"""
