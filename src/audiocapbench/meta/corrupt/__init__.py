"""Makes new trials: pairs of a true caption and one that was made wrong, from any caption set.

A model of words alone finds 97 % of BRACE's false captions. Here no text-only rule may:
``exchanges``, ``events`` or a model make all candidates that no reference of the clip may mean,
``balance`` takes one a caption, and ``make`` checks what comes out.
"""
