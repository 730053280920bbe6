"""Theory, inference and importance: from arrays to numbers."""
