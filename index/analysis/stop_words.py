"""English function words: they carry no topic, so a question drops them while other words are left.

Only closed classes are listed: articles, pronouns, question words, auxiliaries, prepositions, conjunctions
and their contractions. Words that may carry meaning in a question (now, first, many, new, year) are kept.
"""

from __future__ import annotations

_DETERMINERS_AND_PRONOUNS = """
    a an the this that these those some any each every either neither both all such same own other
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
"""
_QUESTION_WORDS = "what which who whom whose when where why how"
_AUXILIARIES = """
    am is are was were be been being have has had having do does did doing done
    can could will would shall should may might must ought
"""
_PREPOSITIONS_AND_CONJUNCTIONS = """
    of in on at by for from with without within into onto to toward towards upon about against between among
    through during before after above below under over up down out off
    and or but nor if then else than as because while until although though since so
    there here not no only too very just also again further once
"""
# A final 's is gone before the list is asked.
_CONTRACTIONS = """
    i'm i've i'd i'll you're you've you'd you'll we're we've we'd we'll they're they've they'd they'll
    he'd he'll she'd she'll it'd it'll that'll that'd who'd who'll who're what're there're there'd
    isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't can't cannot couldn't won't
    wouldn't shan't shouldn't mayn't mightn't mustn't needn't oughtn't
"""

ENGLISH: frozenset[str] = frozenset(
    _DETERMINERS_AND_PRONOUNS.split()
    + _QUESTION_WORDS.split()
    + _AUXILIARIES.split()
    + _PREPOSITIONS_AND_CONJUNCTIONS.split()
    + _CONTRACTIONS.split()
)
