"""Administration: store audit, readiness, installation state and maintenance."""
