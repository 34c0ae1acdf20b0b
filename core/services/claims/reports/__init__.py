"""Reports on claims."""
