"""DATE, MECAT's discriminative metric, block-wise and with any encoder that shows its pieces."""
