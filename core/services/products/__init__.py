"""Products: the catalogue, what each charges from when on, and what a change would cost."""
