"""Records as the desk reads them, across several services."""
