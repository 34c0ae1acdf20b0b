"""What the screens of administration are made of."""
