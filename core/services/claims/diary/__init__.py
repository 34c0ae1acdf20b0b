"""The diary of claims: what is to be done, by whom and by when."""
