"""Makes new trials: pairs of a true caption and one that was made wrong, from any caption set.

BRACE exchanges nouns only, and a model of words alone finds 97 % of its false captions. Here there
are six kinds, and no text-only rule may tell the true caption, within each kind or over all:

- Candidates (``exchanges``, ``events``, or a model): all that can be made of a caption
  as a person wrote it, and that no reference of its clip may mean.
- Plausibility (``slots``): a new phrase was met with the same verb or preposition in captions.
- Balance (``balance``): one candidate a caption, so that length, rarity, n-grams and
  words that stand together speak as often for the false caption as for the true one.

What comes out is checked (``checks``). A large language model may still do better than chance.
"""
