"""Parts of the screens of the privacy desk."""
