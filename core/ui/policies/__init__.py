"""The screens of policies."""
