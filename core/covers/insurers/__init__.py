"""The products of each insurer, one module an insurer or a line of it; the registry lists them."""
