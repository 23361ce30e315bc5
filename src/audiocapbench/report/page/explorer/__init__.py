"""The explorer's data: every clip, answer and score, packed for the page's own script."""
