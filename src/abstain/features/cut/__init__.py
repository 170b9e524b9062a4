"""Where a ranking should stop: chosen on some queries, judged on others."""
