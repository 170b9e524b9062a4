"""What other packages add."""
