"""Hosts of abstain: the real ones where they are installed (`make test-integrations`)."""
