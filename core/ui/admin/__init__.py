"""The screens of administration."""
