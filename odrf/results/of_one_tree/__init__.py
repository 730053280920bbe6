"""What results of one tree have that those of forests do not have."""
