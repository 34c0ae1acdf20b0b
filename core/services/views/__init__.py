"""Detail views of the desk, composed of several services."""
