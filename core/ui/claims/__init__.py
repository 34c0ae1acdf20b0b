"""What the screens of the claims desk are made of."""
