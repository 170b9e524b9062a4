"""Other tools' logs: one file a tool, all of them in one registry."""
