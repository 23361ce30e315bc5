"""MECAT: captions of six kinds and questions about clips of eight domains."""
