"""Tokens as the Stanford PTB tokenizer makes them for the COCO metrics, without Java."""
