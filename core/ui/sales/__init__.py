"""What the screens of sales, renewals and customers are made of."""
