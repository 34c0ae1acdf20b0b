"""Insurance products: one declaration per buy endpoint, and the registry of all of them."""
