"""What is said of a forest whose rows came in chunks."""
