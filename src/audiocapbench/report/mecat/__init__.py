"""What the MECAT paper did by hand, on runs and on files of scores: five analyses."""
