"""``view``: the server behind the pages, and where people rate captions (extra ``web``)."""
