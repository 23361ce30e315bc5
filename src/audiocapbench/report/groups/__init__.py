"""Figures of a benchmark whose samples make corpora."""
