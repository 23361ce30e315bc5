"""Synthesis of the embedded demo benchmark: one module a kind; captions in captions.jsonl."""
