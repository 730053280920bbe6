"""Tasks that other processes do, through libraries made for it; one thread for linear algebra."""
