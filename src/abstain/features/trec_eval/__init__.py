"""Rankings as trec_eval prints them."""
