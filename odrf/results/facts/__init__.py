"""What every result tells of its fit."""
