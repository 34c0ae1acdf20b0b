"""A model of an office whose people try everything that might take money out (contract, Controls)."""
