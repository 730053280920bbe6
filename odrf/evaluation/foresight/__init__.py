"""What a fit will take: memory, room in a file and time, from a few pilot trees."""
