"""``aiopinions``: what a character thinks of people, why, and by which rules."""

import re
from uuid import uuid4

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.commands.rendering import seen_lines
from evennia_ai.contrib.opinions.deeds import REASON_CHARS, rules_of, store_of
from evennia_ai.contrib.opinions.opinion_records import OpinionDeeds
from evennia_ai.contrib.opinions.opinion_rules import DEFAULT, HIGHEST, write_rule
from evennia_ai.errors import BadRecord
from evennia_ai.game.client_text import clean_output
from evennia_ai.policy.audience import BUILDER
from evennia_ai.policy.read_permissions import PUBLIC_MEMORIES
from evennia_ai.policy.records.memory_listing import may_read
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.names import list_names, names_of

POINTS = re.compile(r"[+-]?\d{1,2}(?:\.\d)?")
PEOPLE_SHOWN, DEEDS_SHOWN = 30, 30
SET = "set by staff"


class CmdAIOpinions(AICommand):
    """show and change what a character thinks of people

    Usage:
      aiopinions <character> [= <person>]
      aiopinions/set <character> = <person> <points> : <reason>
      aiopinions/undo <character> = <number>
      aiopinions/rules <character>

    Gifts, thefts, attacks and promises move a character's opinion of a person,
    from -10 to 10 points; 0 is neutral. Prices, doors and quests can depend on it.

    Without a switch: whom the character likes or not, and why. With a person:
    each reason with its number, its points when new, and what is left of them.

    Switches:
      set   - set the opinion to this many points, from now on
      undo  - no longer count the reason with this number, or count it again
      rules - list what each deed changes, how much at most in a day of the
              world, and how much of a deed fades in a day; |waisetup/set
              <character>/opinion_rules|n changes rules, and 0 points turn a deed off

    Only admins see what somebody confided to the character, and the points for
    it.

    Examples:
      aiopinions/set Mira = Ann 5 : saved your cat
      aisetup/set Mira/opinion_rules = gift +3; theft -6, at most 6 a day
      lock gate = traverse:ai_opinion(Mira, 5)
    """

    key = "aiopinions"
    switch_options = ("set", "undo", "rules")
    reads = PUBLIC_MEMORIES

    def do_default(self) -> None:
        self.find_assistant(self.lhs)
        if self.rhs:
            self.show_person(self.find_person(self.rhs))
            return
        values = {who: self.opinion_of(who) for who in self.people}
        people = sorted(values, key=lambda who: -abs(values[who]))[:PEOPLE_SHOWN]
        names = names_of(people)
        lines = [
            f"  {values[who]:+.1f} |w{clean_output(names[who], 40)}|n"
            for who in people
            if who in names
        ]
        lines += [f"Why: |waiopinions {self.name} = <person>|n"] if lines else ["  nothing yet"]
        self.msg("\n".join([f"What {self.name} thinks of people:", *lines]))

    def do_set(self) -> None:
        self.find_editable(self.lhs)
        head, _colon, words = (self.rhs or "").partition(":")
        name, _space, points = head.strip().rpartition(" ")
        reason = words.strip()
        is_set = name and reason and POINTS.fullmatch(points)
        if not is_set or abs(float(points)) > HIGHEST:
            raise UsageError(
                f"Write a person, points from -{HIGHEST:g} to {HIGHEST:g}, and a reason: "
                f"|waiopinions/set {self.name} = Ann 5 : saved your cat|n"
            )
        person = self.find_person(name.strip())
        change = float(points) - self.opinion_of(person)
        fields = {"entity": person, "deed": SET, "fades": 0.0, "made": self.services.now()}
        fields |= {"speakers": [BUILDER], "source_type": "observation", "key": uuid4().hex}
        try:
            stored = self.deeds.put(change, content=clean_heard(reason, REASON_CHARS), **fields)
        except BadRecord as error:
            raise UsageError(f"This cannot be stored: {error}") from error
        if not stored:
            self.msg("That is what it is already: the reason was not noted.")
        self.show_person(person)

    def do_undo(self) -> None:
        self.find_editable(self.lhs)
        record = self.deeds.get((self.rhs or "").strip().lower())
        if record is None or not may_read(self.reader, record):
            raise UsageError(f"Which number? |waiopinions {self.name} = <person>|n lists them.")
        self.deeds.update(record["id"], undone=not record["undone"])
        self.show_person(record["entity"])

    def do_rules(self) -> None:
        rules = rules_of(self.find_assistant(self.lhs).character).items()
        marks = {deed: " |y(changed)|n" * (DEFAULT.get(deed) != rule) for deed, rule in rules}
        lines = [f"  {clean_output(write_rule(deed, rule))}{marks[deed]}" for deed, rule in rules]
        self.msg("\n".join([f"What moves {self.name}'s opinion of people, in points:", *lines]))

    @property
    def deeds(self) -> OpinionDeeds:
        return store_of(self.script.character)

    @property
    def people(self) -> list[str]:
        self.deeds.load_all()
        return [who for who, records in self.deeds.by_person.items() if records]

    def opinion_of(self, person: str) -> float:
        """Return the opinion that those deeds of a person make which the reader may read."""
        deeds = self.deeds.deeds_of(person)
        return self.deeds.value(record for record in deeds if may_read(self.reader, record))

    def find_person(self, name: str) -> str:
        """Return the dbref of a person, known ones first; raises UsageError."""
        known = names_of(self.people)
        same = [who for who, own in known.items() if own.lower() == name.strip().lower()]
        return same[0] if len(same) == 1 else str(self.find_character(name.strip()).dbref)

    def show_person(self, person: str) -> None:
        """Show why the character thinks of a person as it does, newest last."""
        every = self.deeds.deeds_of(person, every=True)[-DEEDS_SHOWN:]
        value, name = self.opinion_of(person), list_names([person])
        lines = [f"{self.name}'s opinion of |w{clean_output(name, 40)}|n: {value:+.1f}"]
        lines += [f"|xBelow, 'you' is {self.name}.|n"] if every else []
        self.msg("\n".join([*lines, *seen_lines(self.reader, every, self.deed_line)]))

    def deed_line(self, record: Record) -> str:
        left = "undone" if record["undone"] else f"{self.deeds.points(record):+.1f} left"
        private = "" if record["audience"] is None else ", private"
        details = f"{record['deed']} {record['change']:+g}, {left}{private}"
        return f"  |w{record['id']}|n {clean_output(record['content'])} |x({details})|n"
