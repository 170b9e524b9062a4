"""What is asked: one folder or file a question."""
