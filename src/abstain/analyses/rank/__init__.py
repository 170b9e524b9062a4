"""Rankings, scored."""
