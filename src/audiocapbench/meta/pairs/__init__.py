"""Pairs of captions that people compared, from the files they come in."""
