"""What an evaluation campaign needs beyond scores: baselines, breakdowns, the overview's tables."""
