"""Other samples of the questions: what is drawn, and what is counted of it."""
