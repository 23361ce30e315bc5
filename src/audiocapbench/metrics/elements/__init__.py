"""What captions say, element by element: precision, recall and inventions, without a model.

Each element of the prediction is a claim, each element of a reference a demand; two words have a
likeness from 0 to 1. ``docs/elements.md`` defines the three scores.
"""
