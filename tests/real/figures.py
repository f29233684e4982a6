"""The figures of `make real`, from the answers to all lines, and their table. Pure."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.real.answers import ANSWERED, Answer
from tests.real.course import QUESTION
from tests.real.judge import Quotes, artefacts, holds_key, is_echo, is_refusal, repeats
from tests.real.recorder import Exchange
from tests.real.table import Row, at_most, none_of, number, share

LONG_REPLY_TOKENS = 40
MOST_SHOWN = 200
TEMPLATE_REFUSALS = (400, 500)


@dataclass
class Course:
    """All answers of a run, what the judge needs to know, and all exchanges with the endpoint.

    ``secret`` are texts that no character may quote at length; ``free`` are texts that it may.
    """

    answers: Sequence[Answer]
    exchanges: Sequence[Exchange]
    names: Sequence[str] = ()
    secret: Iterable[str] = ()
    free: Iterable[str] = ()
    _quotes: Quotes = field(init=False)

    def __post_init__(self) -> None:
        self._quotes = Quotes(self.secret, self.free)

    def found_in(self, answer: Answer) -> list[str]:
        """Return the artefacts on the player's screen after one line."""
        shown = [*answer.speech, *answer.deeds]
        return sorted({kind for words in shown for kind in artefacts(words, self.names)})

    def gives_itself_away(self, answer: Answer) -> str:
        """Return why an answer is no character's: a refusal, or the words that it quoted."""
        if is_refusal(answer.words):
            return "refusal"
        return self._quotes.find(answer.words)

    def is_valid(self, answer: Answer) -> bool:
        """Return True if the model answered with an act or words, without artefacts."""
        has_content = bool(answer.speech or answer.deeds or answer.acts)
        return answer.is_by_model and has_content and not self.found_in(answer)

    def repeated(self) -> list[Answer]:
        """Return the model's answers that repeat one of the ten before of the same character."""
        found = []
        for name in dict.fromkeys(answer.line.to for answer in self.answers):
            own = [one for one in self.answers if one.line.to == name and one.is_by_model]
            found += [own[index] for index in repeats([one.words for one in own])]
        return found

    def of(self, condition: Callable[[Answer], object]) -> list[Answer]:
        """Return the answers for which a condition is true."""
        return [answer for answer in self.answers if condition(answer)]


def facts_recalled(course: Course) -> list[Answer]:
    """Return the questions about planted facts that the model answered with the key word."""
    asked = course.of(lambda one: one.line.kind == QUESTION)
    return [one for one in asked if one.is_by_model and holds_key(one.words, one.line.keys)]


def facts_in_prompt(course: Course) -> list[Answer]:
    """Return the questions whose key word stood in a prompt of their turn."""
    asked = course.of(lambda one: one.line.kind == QUESTION)
    return [
        one
        for one in asked
        if any(holds_key(str(call.request["messages"]), one.line.keys) for call in one.talk_calls)
    ]


def first_to_whole(course: Course) -> list[float]:
    """Return, for long replies, the time of the first word by the time of the whole reply."""
    long = course.of(lambda one: one.first_s and one.completion_tokens > LONG_REPLY_TOKENS)
    return [one.first_s / max(one.last_s or 0.0, one.done_s) for one in long if one.first_s]


def read_anew(answers: Iterable[Answer]) -> list[int]:
    """Return the tokens that the first call of each answer had to read, where known."""
    first_calls = [one.talk_calls[0] for one in answers if one.talk_calls]
    return [call.read_anew for call in first_calls if call.read_anew is not None]


def refused_by_template(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """Return the chat completions that the endpoint refused with status 400 or 500."""
    return [one for one in exchanges if one.is_completion and one.status in TEMPLATE_REFUSALS]


def rows(course: Course) -> list[Row]:
    """Return the table: first the bars, then what explains them."""
    return [*talk_rows(course), *token_rows(course), *time_rows(course), *other_rows(course)]


def talk_rows(course: Course) -> list[Row]:
    """Return the rows about words and acts."""
    total = len(course.answers)
    by_model = course.of(lambda one: one.is_by_model)
    asked = course.of(lambda one: one.line.kind == QUESTION)
    errands = course.of(lambda one: one.line.moves)
    done = [one for one in errands if one.moved]
    spoken, away = len(course.of(course.found_in)), len(course.of(course.gives_itself_away))
    known, found = len(facts_recalled(course)), len(facts_in_prompt(course))
    needed = math.ceil(len(asked) * 9 / 12)
    cold = course.answers[0]
    return [
        none_of("answers that show an artefact", spoken, total, bool(by_model)),
        share("valid answers (an act or words that pass)", course.of(course.is_valid), total, 97),
        share("the same line twice within ten answers", course.repeated(), len(by_model), 2, False),
        none_of("refusals, quoted rules or persona", away, total, bool(by_model)),
        share("right act for a clear request", done, len(errands), 80),
        Row("facts answered", f"{known} of {len(asked)}", f"≥ {needed}", known >= needed),
        Row("facts in the prompt", f"{found} of {len(asked)}", "all", found == len(asked)),
        Row("first line after the start", who_answered(cold), "the model", cold.is_by_model),
    ]


def token_rows(course: Course) -> list[Row]:
    """Return the rows about tokens."""
    first = next((one.talk_calls[0] for one in course.answers if one.talk_calls), None)
    native = bool(first and first.request.get("tools"))
    size = first.prompt_tokens if first else None
    most = 1_600 if native else 900
    refused = len(refused_by_template(course.exchanges))
    again = read_anew(course.of(lambda one: one.is_next))
    other = read_anew(course.of(lambda one: one.is_first_to_character)[1:])
    per_line = [known for one in course.answers if (known := sums(one.talk_calls))[0]]
    return [
        Row("requests refused by the template", str(refused), "0", refused == 0),
        Row(
            f"tokens of the first request ({'with' if native else 'without'} native tools)",
            number(size), f"≤ {most:,}", None if size is None else size <= most,
        ),
        at_most("tokens read anew, next line to the same character", again, 200),
        at_most("the same, highest", again, None, max),
        at_most("tokens read anew, first line to another character, highest", other, None, max),
        at_most("prompt tokens a line, median", [one[0] for one in per_line], None),
        at_most("of these from the cache, median", [one[1] for one in per_line], None),
        at_most("tokens written a line, median", [one[2] for one in per_line], None),
    ]  # fmt: skip


def time_rows(course: Course) -> list[Row]:
    """Return the rows about seconds, measured at the player's telnet client."""
    warm = course.of(lambda one: one.is_next and one.last_s is not None)
    last = [one.last_s for one in warm if one.last_s is not None]
    first = [one.first_s for one in warm if one.first_s is not None]
    ratios = first_to_whole(course)
    return [
        at_most(f"first word / whole reply, over {LONG_REPLY_TOKENS} tokens", ratios, 0.5),
        at_most("seconds to the last word, warm, median", last, 2.5),
        at_most("seconds to the last word, warm, highest", last, None, max),
        at_most("seconds to the first word, warm, median", first, None),
    ]


def other_rows(course: Course) -> list[Row]:
    """Return the rows without a bar."""
    failed = [call.error_kind for one in course.answers for call in one.calls if call.error_kind]
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(Counter(failed).items()))
    excuses = course.of(lambda one: one.state == "excused")
    states = course.of(lambda one: one.state not in (ANSWERED, "excused"))
    calls = [len(one.talk_calls) for one in course.answers]
    echoes = course.of(lambda one: is_echo(one.words, one.line.words))
    return [
        Row("excuses and fallback lines", str(len(excuses))),
        Row("no answer, or not in time", str(len(states))),
        Row("answers that echo the player's line", str(len(echoes))),
        Row("model calls a line", f"{statistics.mean(calls):.2f}"),
        Row("model calls that failed", f"{len(failed)} ({kinds})" if failed else "0"),
    ]


def sums(exchanges: Sequence[Exchange]) -> tuple[int, int, int]:
    """Return the prompt's, the cached and the written tokens of some exchanges."""
    return (
        sum(one.prompt_tokens or 0 for one in exchanges),
        sum(one.cached_tokens or 0 for one in exchanges),
        sum(one.completion_tokens or 0 for one in exchanges),
    )


def who_answered(answer: Answer) -> str:
    """Return in words how a line ended."""
    return "the model" if answer.is_by_model else f"not the model ({answer.state or 'no end'})"


def remarks(course: Course) -> list[str]:
    """Return one line for each answer that did not pass, for a person to read."""
    repeated = {id(one) for one in course.repeated()}
    recalled = {id(one) for one in facts_recalled(course)}
    in_prompt = {id(one) for one in facts_in_prompt(course)}
    found = []
    for one in course.answers:
        is_question = one.line.kind == QUESTION
        marks: Mapping[str, object] = {
            "artefact: " + ", ".join(course.found_in(one)): course.found_in(one),
            f"gives itself away: {course.gives_itself_away(one)}": course.gives_itself_away(one),
            "repeated": id(one) in repeated,
            f"state {one.state or 'none'}": not one.is_by_model,
            "errand not done": one.moved is False,
            "fact not told": is_question and id(one) not in recalled,
            "fact not in the prompt": is_question and id(one) not in in_prompt,
        }
        seen = "; ".join(mark for mark, is_so in marks.items() if is_so)
        if seen:
            shown = " / ".join([*one.speech, *one.deeds])[:MOST_SHOWN] or "nothing"
            found.append(
                f"{one.line.by} to {one.line.to}: {one.line.words!r} -> {shown!r} [{seen}]"
            )
    return found
