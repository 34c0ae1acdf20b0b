"""Building blocks shared by all screens."""
