"""A log of lines, its index, and what a search of it finds."""

import pytest

from evennia_ai.memory.recall_index import RecallIndex
from evennia_ai.messages import make_message
from tests.memory.bag_of_words import BagOfWords

ANN, BOB = "#905", "#906"
BOTH = frozenset({ANN, BOB})


def heard(text, speaker=ANN, audience=BOTH, private=False):
    name = {ANN: "Ann", BOB: "Bob"}[speaker]
    verb = "whispers to you" if private else "says"
    return make_message(
        "user", f"{name} {verb}: {text}", speaker=speaker, speaker_name=name,
        audience=sorted(audience), private=private,
    )  # fmt: skip


class Counting(BagOfWords):
    """An embedder that notes what it is asked."""

    def __init__(self):
        super().__init__(1_024)  # no two of a hundred geese are the same
        self.texts = []

    def embed(self, texts):
        self.texts += texts
        return super().embed(texts)


class Recalling:
    """A character with a log, and an index over it that is made anew on demand."""

    def __init__(self, game, mira):
        self.game, self.script = game, mira.assistant
        self.embedder = Counting()
        self.restart()

    def restart(self):
        who = self.script.character
        self.index = RecallIndex(
            who.journal, who.ai_profiles, self.embedder, lambda dbref: "",
            self.script.conversation.lines, "Mira",
        )  # fmt: skip

    def log(self, *messages):
        return [m["metadata"]["seq"] for m in self.script.conversation.append(messages)]

    def prepare(self, *queries, **options):
        done = self.index.prepare(self.script.services, queries, **options)
        self.game.run(1)
        assert done.called
        return done

    def search(self, words, audience=BOTH, **options):
        now = self.script.services.now()
        hits = self.index.search(words, 5, audience, now, **options)
        return [hit.record["content"] for hit in hits]

    def found(self, words, audience=BOTH, **options):
        self.prepare()
        return self.search(words, audience, **options)


@pytest.fixture
def mind(game, mira):
    return Recalling(game, mira)
