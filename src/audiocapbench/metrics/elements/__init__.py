"""What captions say, element by element, without a model; ``docs/elements.md`` has the scores."""
