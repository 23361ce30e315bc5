"""Broken captions: a detector of our own, and FENSE, which scores what is broken lower."""
