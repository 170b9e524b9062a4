"""One folder a question that can be asked."""
