"""Results that forget what is not needed any more."""
