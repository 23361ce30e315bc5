"""Reading which caption a free-text answer chooses."""
