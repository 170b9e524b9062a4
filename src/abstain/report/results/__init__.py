"""Pages of saved results: what `abstain report` writes."""
