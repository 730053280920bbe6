"""What compact fits have kept, and what that changes."""
