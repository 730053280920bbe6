"""What trees need while they are put together, one after the other: arrays, and memory."""
