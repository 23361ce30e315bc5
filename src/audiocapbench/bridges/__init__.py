"""Bridges to what people already use: thin, each behind an extra, tested with the real package."""
