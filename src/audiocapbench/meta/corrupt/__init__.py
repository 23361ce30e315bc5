"""Makes new trials: pairs of a true caption and one that was made wrong, from any caption set.

BRACE exchanges nouns only, and its made captions can be told by stray spaces, full stops and odd
nouns such as "a pancake engine". Here there are six kinds, and no text-only rule may tell the true
caption, within each kind as well as over all:

- Every caption is written in one plain form, and the true one stands first in half of the pairs.
- ``noun``, ``attribute``, ``count``: two captions of two clips swap a phrase that stands in like
  surroundings. Each phrase is right once and wrong once, so that its length, its rarity and its
  letters say nothing.
- ``added``: both captions get an event more, a true one from another reference or one that another
  clip lends; the other clip borrows in return. Both are as long as they would be anyway.
- ``dropped``: both captions lose an event, the false one what most references name, the true one
  what hardly any names. Both are shorter.
- ``order``: the same words in another order.

What still leans to one side is left out (``balance.py``), and the rest is checked (``checks.py``).
A language model that knows what is likely may still do better than chance: it knows that dogs bark.
"""
