"""Letters on a claim."""
