"""A persona in parts, in the first person, by the language's rules; what fits none stays as it is."""

import re
from dataclasses import dataclass
from functools import lru_cache

from evennia_ai.contrib.stand_in.languages import ENGLISH, Language, language_of, read
from evennia_ai.contrib.stand_in.words import capitals, ended, sentences
from evennia_ai.policy.conversation.persona_and_lore import Persona
from evennia_ai.policy.conversation.requested_acts import compiled

APART = r"; (?=(?:\S+ ){5})"  # what stands alone behind a semicolon: more than a few words
TONES = ("warm", "terse")  # keys of the language's rules; phrases may have variants for each


@dataclass(frozen=True)
class StandInPersona:
    """The parts of a persona, in the first person, and the language that it is written in."""

    identity: str
    facts: tuple[str, ...]
    wants: tuple[str, ...]
    nevers: tuple[str, ...]
    silent: tuple[str, ...]  # subjects that it never speaks of
    habits: tuple[str, ...]
    tone: str  # terse, warm or ""
    language: Language


@lru_cache(maxsize=512)
def read_character(persona: Persona, name: str, languages: tuple[Language, ...]) -> StandInPersona:
    """Return the parts of a persona, without its secrets."""
    whole = " ".join((persona.text, persona.voice, *persona.knows))
    written = language_of(whole, languages) or read(ENGLISH)
    rules = _Rules(written if "voice" in written.data else read(ENGLISH), name)
    clauses = [part for whole in sentences(persona.text) for part in re.split(APART, whole)]
    own = [text for clause in clauses for text in rules.told(clause)]
    own = [text for text in own if not rules.find("trait", text)]
    every = own + [text for entry in persona.knows for text in rules.told(entry)]
    guarded = rules.having("guarded", every)
    wants = [text for text in rules.having("goal", every) if text not in guarded]
    nevers = [text for text in rules.having("never", every) if text not in {*wants, *guarded}]
    law = (*map(rules.refused, persona.never), *nevers)
    subjects = ((text, rules.find("silent", text)) for text in law)
    topics = {text: match["topic"].rstrip(".") for text, match in subjects if match}
    facts = [text for text in every if text and text not in {*wants, *nevers, *guarded}]
    sound = persona.voice or persona.text
    parts = re.split(r"[,;.]\s++(?:and )?|(?<!\s)\s++(?:and|und)\s+", persona.manner)
    return StandInPersona(
        identity=facts[0] if facts and facts[0] in own else "",
        facts=tuple(facts),
        wants=(*wants, *map(rules.wanted, persona.wants)),
        nevers=tuple(text for text in law if text not in topics),
        silent=tuple(topics.values()),
        habits=tuple(part.strip(" .") for part in parts if rules.find("habit", part.strip(" ."))),
        tone=next((tone for tone in TONES if rules.find(tone, sound)), ""),
        language=written,
    )


class _Rules:
    """The rules of a language for the persona of a name."""

    def __init__(self, language: Language, name: str) -> None:
        self.language, self.forms = language, language.data["forms"]
        parts = {name, *name.split()}
        self.names = "|".join(re.escape(part) for part in parts if len(part) > 1) or "(?!)"

    def find(self, key: str, text: str) -> re.Match[str] | None:
        return self.language.pattern("voice", key).search(text)

    def having(self, key: str, texts: list[str]) -> list[str]:
        return [text for text in texts if self.find(key, text)]

    def told(self, clause: str) -> list[str]:
        """Split a clause into statements, one for each subject, or each person that it knows."""
        whole = self.spoken(clause)
        known = self.find("acquainted", whole)
        if known:
            names = self.language.pattern("voice", "next_person").split(whole[known.end() :])
            return [ended(f"{known[0]}{name}") for name in names]
        joint = self.language.pattern("voice", "next_clause")
        parts = [whole] if self.find("subordinate", whole) else joint.split(whole)
        return [ended(capitals(part)) for part in parts]

    def spoken(self, clause: str) -> str:
        """Return a clause of the persona as the character says it."""
        for key in ("that", "private"):
            clause = self.language.pattern("voice", key).sub("", clause.strip())
        if self.find("addressed", clause) and not self.find("possessive", clause):
            clause = self.language.rewritten("you", clause)
            return ended(capitals(self.language.rewritten("told", clause)))
        own = self.first_person(clause)
        if not own and self.find("possessive", clause):
            own = self.possessives(clause)
        if not own and self.find("no_verb", clause):
            own = self.forms["noun"].format(clause[:1].lower() + clause[1:])
        return ended(capitals(own or clause))

    def first_person(self, sentence: str) -> str:
        """Return "Mira keeps the inn." as "I keep the inn."; "" if it is about somebody else."""
        voice = self.language.data["voice"]
        subject, adverb = voice.get("subject", "(?!)"), voice.get("adverb", "(?!)")
        match = compiled(rf"(?:{subject}|{self.names})\b,? ({adverb})?(\w+)").match(sentence)
        if not match:
            return ""
        rest = self.language.pattern("voice", "verb_again").sub(
            lambda again: f"{again['joint']} {again['adverb']}{self.verb(again['verb'])}",
            sentence[match.end() :],
        )
        return f"{self.forms['i']} {match[1] or ''}{self.verb(match[2])}{self.possessives(rest)}"

    def verb(self, verb: str) -> str:
        """Return a third-person verb in the first person: "carries" gives "carry"."""
        return self.language.rewritten("verb", verb.lower(), most=1)

    def possessives(self, text: str) -> str:
        """Return a text about the character with its "his" or "her" as "my"."""
        if not self.find("others", text):
            text = self.language.pattern("voice", "verb_within").sub(
                lambda match: f"{self.forms['i']} {self.verb(match['verb'])}",
                self.language.rewritten("own_alone", text),
            )
        return self.language.rewritten("own", text)

    def wanted(self, entry: str) -> str:
        """Return a goal as a sentence: "to find him" gives "I want to find him."."""
        wish = self.language.pattern("voice", "wish").sub("", entry.strip())
        first, _, rest = wish.partition(" ")
        lowers = self.language.code == ENGLISH or first.lower() in self.language.common
        if lowers and first.istitle() and rest[:1].islower():  # "Find a home for the dog"
            wish = f"{first.lower()} {rest}"
        text = self.possessives(wish)
        form = self.forms["want_noun" if self.find("noun", text) else "want_verb"]
        return ended(capitals(self.language.rewritten("you", form.format(text))))

    def refused(self, entry: str) -> str:
        """Return a refusal as a sentence: "steals" gives "I never steal."."""
        text = self.language.pattern("voice", "refusal").sub("", entry.strip(), count=1)
        verb, _, rest = self.possessives(text).partition(" ")
        form = self.forms["never"].format(verb=self.verb(verb), rest=rest)
        return ended(self.language.rewritten("you", form).strip())
