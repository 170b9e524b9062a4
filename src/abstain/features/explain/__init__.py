"""What is known of a measure."""
