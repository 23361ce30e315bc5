"""Makes a benchmark from a folder of audio: experts hear, a language model merges, rules check."""
