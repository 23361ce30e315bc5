"""Which caption people would prefer: a blend of metrics whose weights were learned from votes."""
