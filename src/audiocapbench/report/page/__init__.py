"""The report page and the figures of a set of runs."""
