"""One HTML page of a saved result."""
