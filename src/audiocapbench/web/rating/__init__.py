"""People rate captions: projects, who is asked what, the pages' requests, and what came of it."""
