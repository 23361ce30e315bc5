"""Audio-language models that compare two captions of a clip."""
