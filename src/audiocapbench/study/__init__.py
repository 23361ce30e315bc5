"""Certainty for less: races, subsets, calibrated judges, and studies in a file."""
