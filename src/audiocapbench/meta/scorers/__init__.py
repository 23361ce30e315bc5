"""Who can be put on trial, and how each chooses between two captions."""
