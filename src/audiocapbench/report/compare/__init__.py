"""Two runs, paired sample by sample."""
