"""Products: the catalogue, tariffs over time, and price previews."""
