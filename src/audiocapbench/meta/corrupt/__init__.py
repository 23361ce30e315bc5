"""Makes new trials: pairs of a true caption and one that was made wrong, from any caption set.

BRACE exchanges nouns only, and a model of words alone finds 97 % of its false captions. Here there
are six kinds, and no text-only rule may tell the true caption: ``exchanges``, ``events`` or a model
make all candidates that no reference of the clip may mean, ``balance`` takes one a caption so that
length, rarity, n-grams and words that stand together speak as often for the false one as for the
true one, and ``make`` checks what comes out. A large language model may still do better.
"""
