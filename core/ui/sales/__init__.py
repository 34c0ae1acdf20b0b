"""The screens of sales, renewals and customers."""
