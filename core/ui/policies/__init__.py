"""What the screens of policies are made of."""
