"""What comes in during a season: submissions, receipts, and a seal on the gold."""
