"""A real server under load: overload and soak, measured and printed, never asserted in the suite."""
