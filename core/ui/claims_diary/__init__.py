"""The diary of claims on screens."""
