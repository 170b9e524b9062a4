"""The test set: what participants may see of a gold."""
