"""Words whose period belongs to them: those of which the original tokenizer said so when asked
about every string of up to four letters, a dictionary, and a list of usual abbreviations."""

ABBREVIATIONS = """
    adj adm adv alex assoc asst atty attys ave brig capt cf cie cmdr col comdr cpl dept det dr
    drs elec ens ft gen gov govs hon insp invt jos lieut lt maj messrs mfg mlle mme mr mrs ms
    msgr mt mtg natl pfc ph pres prof profs pvt rep reps rev sen sens sfc sgt spc st ste supt
    supts treas vs wm
"""

FINAL_ABBREVIATIONS = """
    al ala apr ariz assn aug bancorp bhd bldg blvd bros calif co colo conn corp cos ct dak dec
    esq est etc ext feb fla fri ga inc ind intl jan jr jul jun kan kans ky ltd mar md mich minn
    mo mon mont neb nev nov oct okla penn plc ppte ppty pte ptes pty ptys rd rt sep sept seq sq
    sr sys tel tenn thu thurs tue tues univ va vt wed wis wisc wyo
"""
"""Abbreviations that may end a sentence, and so win over a longer word by one more letter."""

CAPITALISED_ABBREVIATIONS = """
    ark az del ill la mass miss ore pa tex wash
"""
"""As the final ones, but only with a capital: in lower case they are words of their own."""

NUMBERED_ABBREVIATIONS = "art ca fig figs no nos op pp prop"
"""Abbreviations only before a number."""

SENTENCE_OPENERS = """
    A About According Additionally After An As At But Earlier He Her Here However If In It Last
    Many More Now Once One Other Our She Since So Some Such That The Their Then There These They
    This We What When While Yet You
"""
"""After a single letter and a period these open a sentence, so the letter is no initial."""
