"""Measures against hand-written SQL on the same file, in one run, as ratios; asserts nothing."""
