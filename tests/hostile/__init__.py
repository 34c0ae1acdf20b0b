"""What somebody with bad intentions sends, and the proof that our checks would notice if it worked."""
