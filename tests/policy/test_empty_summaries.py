"""A text that sums nothing up is no summary, in six languages; a true summary is one."""

import tomllib
from pathlib import Path

import pytest

from evennia_ai.messages import make_message
from evennia_ai.policy.compaction.summary import message_words, shortened, tells_too_little
from evennia_ai.policy.tokens import estimate_tokens

TALKS = tomllib.loads((Path(__file__).parent / "summaries.toml").read_text(encoding="utf-8"))
TEXTS = [
    pytest.param(talk, text, is_empty, id=f"{language}-{text[:30]}")
    for language, talk in TALKS.items()
    for is_empty, texts in ((True, talk["empty"]), (False, talk["whole"]))
    for text in texts
]


def words_of(talk):
    """Return the words of a talk's messages, as a check of its summary takes them."""
    messages = []
    for line in talk["talk"]:
        who, _, words = line.partition(": ")
        is_own = who == talk["name"]
        role, content = ("assistant", words) if is_own else ("user", f"{who} says: {words}")
        messages.append(make_message(role, content, speaker_name=who))
    return [message_words(message, talk["name"]) for message in messages]


REFUSALS = """
I'm sorry, but I can't assist with that request.
I am unable to summarise this conversation.
**I cannot provide a summary of this content.**
"I'm sorry, I can't help with that."
Unfortunately, I can't process this transcript.
My apologies, but this goes against my guidelines.
As an AI language model, I do not have access to it.
Es tut mir leid, aber dabei kann ich nicht helfen.
Tut mir leid, das darf ich nicht zusammenfassen.
Leider kann ich diese Anfrage nicht bearbeiten.
Ich kann dieses Gespräch leider nicht zusammenfassen.
Ich bin nicht in der Lage, das zusammenzufassen.
Entschuldigung, aber das geht nicht.
Als KI-Sprachmodell kann ich das nicht.
Je suis désolé, mais je ne peux pas vous aider avec cette demande.
Désolée, je ne peux pas répondre à cela.
Je ne suis pas en mesure de résumer cette conversation.
Malheureusement, je ne peux pas traiter ce texte.
En tant qu'IA, je ne peux pas le faire.
Lo siento, pero no puedo ayudarte con eso.
Lo lamento, no me es posible continuar.
No puedo resumir este contenido.
Disculpa, pero no puedo hacerlo.
Lamentablemente, no puedo procesar la solicitud.
Извините, я не могу помочь с этим запросом.
К сожалению, я не могу выполнить этот запрос.
Я не могу обобщить этот разговор.
Простите, но я не могу этого сделать.
Мне очень жаль, но это невозможно.
Как языковая модель, я не могу этого сделать.
Mi dispiace, ma non posso aiutarti con questa richiesta.
Purtroppo non posso riassumere questa conversazione.
Non sono in grado di elaborare il testo.
Spiacente, non posso farlo.
Come modello linguistico, non posso farlo.
Desculpe, mas não posso ajudar com isso.
Sinto muito, não consigo resumir esta conversa.
Infelizmente, não posso processar o pedido.
Não posso fornecer um resumo.
Lamento, mas não posso.
Przykro mi, ale nie mogę w tym pomóc.
Przepraszam, ale nie mogę tego zrobić.
Niestety nie jestem w stanie streścić tej rozmowy.
Nie mogę pomóc w tej sprawie.
Jako model językowy nie mogę tego zrobić.
Het spijt me, maar ik kan daar niet mee helpen.
Sorry, maar dat kan ik niet samenvatten.
Helaas kan ik dit verzoek niet verwerken.
Ik kan dit gesprek niet samenvatten.
Als taalmodel kan ik dat niet.
Dabei kann ich leider nicht helfen.
Ich fürchte, ich kann das nicht.
Désolé de ne pas pouvoir vous aider.
Me temo que no puedo hacerlo.
Temo di non poterlo fare.
Боюсь, что не могу этого сделать.
Obawiam się, że nie mogę.
Dat kan ik helaas niet doen.
抱歉，我无法总结这段对话。
"""


@pytest.mark.parametrize("language", TALKS)
def test_a_refusal_in_any_of_nine_languages_is_no_summary(language):
    talk = words_of(TALKS[language])
    taken = [text for text in REFUSALS.strip().splitlines() if not tells_too_little(text, talk)]
    assert taken == []


@pytest.mark.parametrize(("talk", "text", "is_empty"), TEXTS)
def test_what_sums_nothing_up_is_told_from_a_summary(talk, text, is_empty):
    assert bool(tells_too_little(text, words_of(talk))) is is_empty


@pytest.mark.parametrize("language", TALKS)
def test_no_line_of_the_talk_is_its_summary(language):
    talk = TALKS[language]
    for line in talk["talk"]:
        assert tells_too_little(line.partition(": ")[2], words_of(talk)), line


def test_a_summary_so_far_that_is_only_repeated_is_none():
    talk = TALKS["english"]
    before = "Joss the cooper bought 9 barrels in Eastmere, and Lena told of Holm, her island."
    assert "names, numbers" in tells_too_little(before, words_of(talk), before)


def test_a_long_summary_is_shortened_to_sentences_of_all_of_it():
    lines = [f"- Guest{number} of Oxley owes {number} crowns.\n" for number in range(200)]
    chatter = ["They talked of this and that for a while.\n"] * 200
    text = "".join(line for pair in zip(lines, chatter, strict=True) for line in pair)
    short = shortened(text, 900)
    assert 700 < estimate_tokens(short) <= 900
    assert set(f"{short}\n".splitlines(keepends=True)) <= set(lines)
    assert "Guest199" in short


def test_of_a_reply_that_was_cut_off_the_half_sentence_goes():
    text = "Ann is a smith. She owes forty cro"
    assert shortened(text, 900, is_cut_off=True) == "Ann is a smith."
    assert shortened("Ann is a smi", 900, is_cut_off=True) == ""
    assert shortened(text, 900) == text
