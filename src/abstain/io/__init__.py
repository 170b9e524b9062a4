"""Files, logs, frames and engines: whatever comes in, as tables."""
