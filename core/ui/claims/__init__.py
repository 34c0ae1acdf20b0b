"""The screens of the claims desk."""
