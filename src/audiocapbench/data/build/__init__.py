"""Dataset folders made from public sources: which clips, from where, fetched only once."""
