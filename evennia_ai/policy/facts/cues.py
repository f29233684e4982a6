"""Cues in a sentence: words of five languages for a debt, a promise, a secret and the like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from evennia_ai.policy.facts.terms import NAME, NUMBER, TIME
from evennia_ai.policy.word_patterns import one_of

DEBT, PROMISE, SECRET, RELATION, TASK = "debt", "promise", "secret", "relation", "task"
IDENTITY, PREFERENCE, ITEM, WISH = "identity", "preference", "item", "wish"

MY = r"(?:my|your|his|her|our|their|\w+['’]s|(?:[mds]ein|ihr|unser)(?:e[mnrs]?)?|m(?:on|a|es)|notre"
MY += r"|mis?|nuestr[ao]|мо[йяюеёи]\w*|тво[йяюеёи]\w*|наш\w*)"
KIN = r"""sister|brother|mother|father|son|daughter|wife|husband|uncle|aunt|cousin|niece|nephew
|twin|grand(?:mother|father|son|daughter)|mum|mom|dad|apprentice|master|teacher|pupil|neighbou?r
|rival|enemy|boss|servant|god\w+|dog|cat|horse|mule|goat|(?:Groß)?(?:vater|mutter)|Bruder
|Schwester|Frau|Mann|Sohn|Tochter|Onkel|Tante|Neffe|Nichte|Freund|Freundin|Verlobte|Meister
|Lehrling|Nachbar\w*|Hund|Katze|Pferd|sœur|soeur|frère|mère|père|fils|fille|femme|mari|oncle
|tante|cousine?|chien|chat|cheval|hermana|hermano|madre|padre|hij[ao]|espos[ao]|tí[ao]|prim[ao]
|perro|gat[ao]|caballo|сестр\w*|брат\w*|мать|матер\w*|от(?:ец|ца)|сын\w*|доч\w*|жен[аыу]\w*
|муж\w*|дяд\w*|тёт\w*|собак\w*|кош?к\w*|лошад\w*"""
PHRASES = {
    DEBT: r"""ow(?:e|es|ed|ing)|debts?|borrow(?:s|ed)?|len[dt]s?|loan|repa(?:y|id)|(?:pay|paid
|pays)(?: \w+)? back|on me|schuld(?:e|est|et|en)|geliehen|geborgt|(?:bekomm|krieg)st noch
|doi[st]|dettes?|emprunté?e?|prêtée?|deb[oe]s?|deudas?|prest(?:ó|é|aste|ado)|долж[еон]\w*
|долг\w*|одолжил\w*|взаймы""",
    PROMISE: r"""promis(?:e|es|ed|ing)|sw(?:ear|ears|ore|orn)|vow(?:s|ed)?|oaths?|agree(?:d
|ment)?|pact|deal|bargain|guaranteed?|pledged?|my word|verspr(?:eche?|ichst?|icht|och\w*)
|schwör\w*|mein Wort|promets?|promis(?:e|es)?|promesses?|jure|parole|prometo|promet(?:es|ió|í)
|promesas?|juro|обеща\w*|клян\w*|даю слово""",
    SECRET: r"""secret(?:s|ly)?|pass(?:word|phrase)|watchword|codeword|confess(?:ed)?|betray\w*
|spy|poison|between us|tell (?:nobody|anyone|anybody)|(?:else|nobody) knows|geheim\w*|(?:keinem
|niemandem)|verrat\w*|unter uns|secrets?|mot de passe|à personne|entre nous|secretos?|contraseña
|a nadie|entre nosotros|тайн\w*|секрет\w*|пароль|никому|между нами""",
    RELATION: rf"{MY} (?:(?:little|older?|younger|elder|kleine\w*|petite?) )?(?:{KIN})",
    PREFERENCE: r"""(?:dis)?likes|(?:i|we|you|they|really|don['’]t|doesn['’]t) (?:dis)?like
|love[sd]?|hate[sd]?|loathes?|prefers?|adores?|despises?|dreads?|detests?|enjoys?|fears?
|favou?rites?|allergic|fond|(?:afraid|scared|tired) of|can(?:['’]t|not) (?:stand|bear|abide|eat
|drink|stomach)|never (?:eat|drink|touch)s?|hasse|liebe|[Ii]ch mag|würde so? ?gern|Lieblings\w*
|vertrage|fürchte|Angst vor|déteste|adore|aime|préférée?|peur d\w*|allergique|odio|detesto
|me gustan?|me encantan?|favorit[ao]|miedo|alérgic[ao]|ненавижу|люблю|обожаю|боюсь|любим\w*""",
    IDENTITY: r"""called|named|nicknamed|born|hails?|years old|my name|call(?:s|ed)? me|known as
|works? (?:as|for|at)|live[sd]? (?:in|at|near|on|by|under|above|beyond|behind)|(?:come|comes
|came) from|(?:am|i['’]m|is) from|(?:i['’]m|am|is|was) (?:an?|the|our|my)|(?:is|was|are) my
|heiße|heisse|nenn(?:en|t) mich|komme aus|wohn(?:e|t)|von Beruf|geboren|m['’]appelle
|s['’]appelle|suis né\w*|habite|viens de|travaille|llam[ao]|nací|vivo|vive|trabajo|soy de|зовут
|родил\w*|живу|живёт|живет|работаю""",
    ITEM: r"""g[ia]ves?|given|hand(?:s|ed)|took|taken|st[oe]len?|steals?|lost|found|bought|sold
|sells?|carr(?:y|ies|ied)|own(?:s|ed)?|receive[sd]?|dropped|hid|hidden|hides?|bur(?:y|ied)
|costs?|belongs?|wears?|wore|traded?|here(?: is|['’]s) (?:an?|the|your)|perdu|trouvé|acheté
|vendu|caché|perdí|compré|vendí|escondí|потерял\w*|купил\w*|продал\w*|спрятал\w*|украл\w*""",
    WISH: r"""(?:i|we)(?:['’]d| would)? (?:really |always |also )*(?:want|wish|hope|dream|plan
|mean|need|miss)|ich (?:will|möchte|hoffe|wünsche)|je (?:veux|voudrais|rêve|espère)|quiero
|quisiera|espero|sueño|я (?:хочу|мечтаю|надеюсь)""",
    TASK: r"""(?:i|we)['’]ll(?! (?:think|see|try)\b)|must|remind|bring|fetch|deliver|remember
|forget|(?:i|we) (?:will|shall)|you to|(?:have|need) to|you should|going to|look(?:ing)? (?:for
|after)|(?:meet|find) me|ask for|wait for|brauche|ich (?:muss|bringe|suche|werde)|werde ich
|treffen uns|zurück|dois|cherche|reviens|reviendrai|apporterai|besoin|tengo que|busco|necesito
|volveré|traeré|нужн[оаы]|ищу|вернусь|принесу|должен""",
}  # fmt: skip
CUES = {
    kind: re.compile(rf"\b{one_of(phrase.replace(chr(10), ''))}\b", re.IGNORECASE)
    for kind, phrase in PHRASES.items()
}
WEIGHTS: Mapping[str, int] = {
    DEBT: 10, PROMISE: 10, SECRET: 9, RELATION: 9, IDENTITY: 8, PREFERENCE: 8, NUMBER: 7, NAME: 7,
    TIME: 7, ITEM: 7, TASK: 6, WISH: 6,
}  # fmt: skip
KEPT_SENTENCES = 1_000  # whose cues are known: a prompt asks about the same lines as the last
ASKABLE = frozenset({DEBT, PROMISE, TASK})  # kinds that a question may state
ASKING = re.compile(
    r"(?:who|whom|whose|what|which|when|where|why|how|do|does|did|is|are|was|were|can|could|will"
    r"|would|shall|should|have|has|had|may)\b(?!.*[.!]$)",
    re.IGNORECASE,
)


@lru_cache(KEPT_SENTENCES)
def cues_of(sentence: str) -> frozenset[str]:
    """Return the kinds of fact that a sentence has cues for."""
    return frozenset(kind for kind, pattern in CUES.items() if pattern.search(sentence))


def without_cues(sentence: str, kinds: Iterable[str]) -> str:
    """Return a sentence without the cues of some kinds; a relation's word stays."""
    for kind in kinds:
        if kind != RELATION:
            sentence = CUES[kind].sub(" ", sentence)
    return sentence


def is_question(sentence: str) -> bool:
    """Return True for a question."""
    end = sentence.rstrip(" \"”'»)")
    return end.endswith(("?", "？", "؟")) or bool(ASKING.match(end))
