"""What is sold: one declaration for each buy endpoint, and the table of all of them."""
