"""Gold and responses to outcomes."""
