"""Published tables against arithmetic."""
