"""A rule of thumb for the importance of a memory, in English and German, without a model."""

from __future__ import annotations

import re

BASE = 3
LOWEST, HIGHEST = 1, 10

GRAVE = re.compile(
    r"\b(?:promis\w*|swor[en]\w*|swear\w*|oath|vow\w*|threat\w*|warn(?:ed|ing|s)?|g[ai]ve[ns]?"
    r"|gifts?|present(?:ed|s)|ste?al\w*|stole\w*|thie\w+|theft|rob(?:s|bed|ber\w*)|attack\w*"
    r"|murder\w*|kill\w*|d(?:ied|ies|ying|ead|eath)|buried"
    r"|versprech\w*|versproch\w*|versprich\w*|versprach\w*|schw[oö]r\w*|droh\w*|schenk\w*"
    r"|geschenk\w*|gestohlen|stiehl\w*|stahl|dieb\w*|raub\w*|geraubt|angriff\w*|greif\w+"
    r"|mord\w*|ermord\w*|t[oö]tet?\w*|tot|tod\w*|starb\w*|gestorben|begraben)\b",
    re.IGNORECASE,
)
PARTICULAR = re.compile(
    r"\d|\b(?:secret\w*|geheim\w*|password|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow"
    r"|tonight|midnight|noon|morgen|mitternacht|mittag|(?:mon|diens|donners|frei|sams|sonn)tag"
    r"|mittwoch|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|zwei|drei"
    r"|vier|fünf|sechs|sieben|acht|neun|zehn|dutzend|hundert|tausend)\b",
    re.IGNORECASE,
)
TO_KEEP = re.compile(r"\b(?:remember|don'?t forget|never forget|merk\w*|vergiss)\b", re.IGNORECASE)
GREETING = re.compile(
    r"\b(?:hello|hi|hail|greetings?|greet(?:ed|s)|good (?:morning|evening|day|night)|goodbye"
    r"|farewell|hallo|gr(?:ü|ue)(?:ß|ss)\w*|guten (?:morgen|tag|abend)|gute nacht|lebewohl)\b",
    re.IGNORECASE,
)


def score_importance(text: str, *, named: bool = False, first_meeting: bool = False) -> int:
    """Return a text's importance, 1 to 10; ``named``: it has the character's own name."""
    score = BASE + named + 2 * first_meeting
    score += 3 * bool(GRAVE.search(text))
    score += bool(PARTICULAR.search(text))
    score += 4 * bool(TO_KEEP.search(text))
    score -= 2 * bool(GREETING.search(text))
    return max(LOWEST, min(HIGHEST, score))
