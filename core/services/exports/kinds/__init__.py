"""One file for each kind of export."""
