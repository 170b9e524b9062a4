"""Is a difference real? Intervals, paired tests, where a difference comes from, what it takes."""
