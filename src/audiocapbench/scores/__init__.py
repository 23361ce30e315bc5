"""The score table: every score of a run or of files, computed once and read by all that show it."""
