"""What captions say, element by element: precision, recall and inventions, without a model.

Each element of the prediction is a claim, each element of a reference a demand; two words have a
likeness from 0 to 1. "sound", "something" and their like are vague.

accuracy
    Graded precision. 10 × the weighted mean of the support of all claims, attributes, moods and
    counts included. Support is 0.8 × the likeness to the best reference + 0.2 × the mean over
    references. A vague claim has half support; one that more references exclude than name keeps
    30 %; one that references deny has none. The stated order counts as one more claim, supported
    by the share of event pairs that references put in the same order. Repeating a word more often
    than any reference does costs support. What reads less like a sentence than every reference, by
    the fluency detector, loses up to 70 % of it; so does, by a part for each doubling, what is
    longer than the longest reference, and what says less than 40 % of what they say.
completeness
    Graded recall. 10 × the weighted mean, over all elements of all references, of the likeness to
    the best element of the prediction. An element weighs the more, the more references mention the
    like. The order of events counts as one more demand: met where it is the same, half met where
    the prediction leaves it open. What is not matched at all counts as missing. A caption that says
    less than references do on average is held to it: the share to the power of 0.65 is a factor.
    One longer than the longest loses as much as in accuracy: more words find more by chance.
hallucination
    10 × (1 − the share of sources, events and quoted words that are clearly unsupported, with a
    support below 0.3). All or nothing for each claim: attributes, moods, counts and order do not
    enter it, nor does a claim that is merely imprecise. One that names nothing has 5 at the most.

A negated element ("no speech", "without drums or bass") is matched with what references negate. It
counts against all of accuracy, completeness and hallucination where references affirm it, and not
at all where they do not mention it. "No sound" is silence. A caption that breaks off ("a dog barks
and a") claims something and does not say what: an unsupported claim.
Words of the transcript support what the prediction says or quotes; they are demanded only where a
reference quotes them. In music and speech, attributes and moods weigh more.

An empty prediction, and one without any element, scores 0 on all three. Text in scripts that the
word vectors do not know is compared word by word, Han and kana sign by sign.
"""
