"""Rankings: runs and qrels in a form in which every measure is a few array operations."""
