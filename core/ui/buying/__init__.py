"""The screens that sell: price, details, review, confirmation."""
