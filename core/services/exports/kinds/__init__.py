"""Export kinds, one file each."""
