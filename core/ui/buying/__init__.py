"""What the screens that sell are made of: price, details, review, confirmation."""
