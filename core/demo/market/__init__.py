"""Who sells what to whom in the demonstration portfolio."""
