"""A campaign: from gold and runs to every table of an overview paper."""
