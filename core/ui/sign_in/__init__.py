"""The screens of signing in."""
