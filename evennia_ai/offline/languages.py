"""Phrases in other languages: greetings, thanks, goodbyes, "I speak little".

A language is recognised by its most common words; the reply is in the speaker's language.
"""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import re
from dataclasses import dataclass

from evennia_ai.offline.words import words
from evennia_ai.policy.retrieval.languages import ENGLISH, STOP_WORDS

ENGLISH_WORDS = STOP_WORDS[ENGLISH] | {"come", "give", "go", "got", "hello", "name", "one"}


@dataclass(frozen=True)
class Language:
    """One language: its common words and marks, its intents, and its phrases."""

    name: str
    common: frozenset[str]
    marks: re.Pattern[str]
    intents: tuple[tuple[str, re.Pattern[str]], ...]
    lines: dict[str, tuple[str, ...]]


def _language(
    name: str,
    stop_words: frozenset[str],
    common: str,
    marks: str,
    intents: dict[str, str],
    lines: dict[str, tuple[str, ...]],
) -> Language:
    table = tuple((key, re.compile(pattern, re.I)) for key, pattern in intents.items())
    return Language(name, stop_words.union(common.split()), re.compile(marks, re.I), table, lines)


GERMAN = _language(
    "German",
    STOP_WORDS["de"],
    "abend bier danke deutsch gibt gott grüß gute guten hallo heisse heiße heißt kennst komme kommst moin morgen servus sprechen sprichst tag tschüss weißt wiedersehen wirt",
    r"[äöüß]",
    {
        "nature": r"\b(?:ki|bot|roboter|maschine|computer|programm|sprachmodell|echt|mensch|künstlich)\b",
        "farewell": r"\b(?:tschüss|tschüß|auf wiedersehen|wiedersehen|leb wohl|gute nacht|bis (?:bald|morgen|dann)|mach'?s gut)\b",
        "thanks": r"\b(?:danke|dank|vielen dank|dankeschön)\b",
        "name": r"\b(?:wer (?:bist|sind|seid)|wie (?:heißt|heisst|heißen|heissen)|dein name|ihr name)\b",
        "feeling": r"\b(?:wie geht)\b",
        "place": r"\b(?:wo (?:bin ich|sind wir)|was ist (?:das|dies) (?:hier )?für ein ort)\b",
        "speak": r"\b(?:sprichst|sprechen|verstehst|redest)\b",
        "greet": r"\b(?:hallo|guten|grüß|servus|moin|willkommen|sei gegrüßt|tag)\b",
    },
    {
        "greet": ("Guten Tag, {speaker}, und willkommen! Ich bin {name}.", "Sei gegrüßt, {speaker}. Ich heiße {name}; Deutsch spreche ich nur wenig."),
        "farewell": ("Auf Wiedersehen, {speaker}, und gute Reise.", "Leb wohl, {speaker}. Komm bald wieder."),
        "thanks": ("Gern geschehen, {speaker}.", "Bitte sehr, {speaker}, das war nicht der Rede wert."),
        "name": ("Ich bin {name}, {speaker}. Mehr kann ich auf Deutsch kaum sagen.", "{name} heiße ich, {speaker}."),
        "feeling": ("Gut, danke, {speaker}. Und dir?", "Es geht mir gut, {speaker}; ich kann nicht klagen."),
        "place": ("Das hier ist {place}, {speaker}.", "Du bist hier: {place}."),
        "nature": ("Ehrlich gesagt, {speaker}: hinter mir steht gerade kein Sprachmodell, nur das Offline-Gehirn (offline brain), einfach, aber immer da.",),
        "speak": ("Ein wenig, {speaker}: ich spreche nur wenig Deutsch. Besser verstehe ich Englisch.",),
        "other": ("Verzeih, {speaker}, ich spreche nur wenig Deutsch. Magst du es auf Englisch versuchen?", "Das habe ich nicht ganz verstanden, {speaker}; mein Deutsch ist schwach.", "So viel Deutsch kann ich nicht, {speaker}. Sag es mir einfacher, oder auf Englisch."),
        "native": ("Das weiß ich leider nicht, {speaker}.", "Da fragst du mich zu viel, {speaker}.", "Hm. Darüber muss ich erst nachdenken, {speaker}.", "Ich höre dir zu, {speaker}. Erzähl weiter."),
        "idle": ("sieht sich um.", "summt leise vor sich hin.", "hält einen Augenblick inne.", "streckt sich kurz.", "blickt auf und lauscht."),
    },
)  # fmt: skip
SPANISH = _language(
    "Spanish",
    STOP_WORDS["es"],
    "adiós bien buenas buenos cerveza días español favor gracias hablas hola llamas llamo luego noches señor señora tardes vengo vino",
    r"[ñ¿¡]|\b(?:está|qué|cómo|dónde|quién|adiós|días)\b",
    {
        "nature": r"\b(?:ia|bot|robot|máquina|programa|ordenador|modelo de lenguaje|real|humano|humana|artificial)\b",
        "farewell": r"\b(?:adiós|adios|hasta (?:luego|mañana|pronto|la vista)|buenas noches|nos vemos|chao)\b",
        "thanks": r"\b(?:gracias)\b",
        "name": r"\b(?:quién eres|quien eres|cómo te llamas|como te llamas|tu nombre|su nombre)\b",
        "feeling": r"\b(?:cómo estás|como estas|qué tal|que tal|cómo está|como está)\b",
        "place": r"\b(?:dónde estamos|dónde estoy|donde estamos|donde estoy|qué lugar)\b",
        "speak": r"\b(?:hablas|habla|entiendes)\b",
        "greet": r"\b(?:hola|buenos|buenas|saludos|bienvenid\w)\b",
    },
    {
        "greet": ("¡Hola, {speaker}, y bienvenida sea tu visita! Soy {name}.", "Buenas, {speaker}. Me llamo {name}; hablo poco español."),
        "farewell": ("Adiós, {speaker}, y buen viaje.", "Hasta luego, {speaker}. Vuelve pronto."),
        "thanks": ("De nada, {speaker}.", "No hay de qué, {speaker}."),
        "name": ("Soy {name}, {speaker}. Poco más sé decir en español.", "Me llamo {name}, {speaker}."),
        "feeling": ("Bien, gracias, {speaker}. ¿Y tú?", "No me quejo, {speaker}."),
        "place": ("Esto es {place}, {speaker}.", "Estamos aquí: {place}."),
        "nature": ("La verdad, {speaker}: ahora mismo no hay ningún modelo de lenguaje detrás de mí, solo el cerebro sin conexión (offline brain).",),
        "speak": ("Un poco, {speaker}: hablo poco español. Entiendo mejor el inglés.",),
        "other": ("Perdona, {speaker}, hablo poco español. ¿Puedes decirlo en inglés?", "No lo he entendido bien, {speaker}; mi español es pobre.", "Para tanto no me llega el español, {speaker}. Dilo más sencillo, o en inglés."),
        "native": ("Eso no lo sé, {speaker}.", "Me preguntas demasiado, {speaker}.", "Hm. Tengo que pensarlo, {speaker}.", "Te escucho, {speaker}. Sigue contando."),
        "idle": ("mira a su alrededor.", "tararea en voz baja.", "se queda un momento en silencio.", "se estira un poco.", "levanta la vista y escucha."),
    },
)  # fmt: skip
FRENCH = _language(
    "French",
    STOP_WORDS["fr"],
    "appelez bière bonjour bonsoir c'est français m'appelle madame merci monsieur parles parlez plaît puis-je revoir s'il salut t'appelles viens vin voudrais",
    r"[çœ]|\b(?:où|êtes|français|ça|très|plaît|c'est|qu'est|m'appelle|t'appelles|j'ai|d'où|l'\w+)",
    {
        "nature": r"\b(?:ia|robot|bot|machine|programme|ordinateur|modèle de langage|réel|réelle|humain|humaine|artificielle?)\b",
        "farewell": r"\b(?:au revoir|adieu|bonne nuit|à (?:bientôt|demain|plus)|salut et|bonne soirée)\b",
        "thanks": r"\b(?:merci)\b",
        "name": r"\b(?:qui (?:êtes|es)|comment (?:vous |t'|tu t')?(?:appel\w+)|votre nom|ton nom|t'appelles)\b",
        "feeling": r"\b(?:ça va|comment (?:allez|vas|ça))\b",
        "place": r"\b(?:où (?:sommes|suis)|quel est cet endroit)\b",
        "speak": r"\b(?:parlez|parles|comprenez|comprends)\b",
        "greet": r"\b(?:bonjour|bonsoir|salut|bienvenue|coucou)\b",
    },
    {
        "greet": ("Bonjour, {speaker}, et bienvenue ! Je suis {name}.", "Salut, {speaker}. Je m'appelle {name} ; je parle peu français."),
        "farewell": ("Au revoir, {speaker}, et bonne route.", "Adieu, {speaker}. Revenez bientôt."),
        "thanks": ("De rien, {speaker}.", "Je vous en prie, {speaker}."),
        "name": ("Je suis {name}, {speaker}. Je ne sais guère en dire plus en français.", "Je m'appelle {name}, {speaker}."),
        "feeling": ("Bien, merci, {speaker}. Et vous ?", "Je ne me plains pas, {speaker}."),
        "place": ("Ici, c'est {place}, {speaker}.", "Nous sommes ici : {place}."),
        "nature": ("Franchement, {speaker} : aucun modèle de langage n'est derrière moi en ce moment, seulement le cerveau hors ligne (offline brain).",),
        "speak": ("Un peu, {speaker} : je parle peu français. Je comprends mieux l'anglais.",),
        "other": ("Pardon, {speaker}, je parle peu français. Pouvez-vous le dire en anglais ?", "Je n'ai pas bien compris, {speaker} ; mon français est maigre.", "Mon français ne va pas si loin, {speaker}. Plus simplement, ou en anglais ?"),
        "native": ("Cela, je ne le sais pas, {speaker}.", "Vous m'en demandez trop, {speaker}.", "Hm. Il faut que j'y pense, {speaker}.", "Je vous écoute, {speaker}. Continuez."),
        "idle": ("jette un regard alentour.", "fredonne à mi-voix.", "reste un instant en silence.", "s'étire un peu.", "lève les yeux et tend l'oreille."),
    },
)  # fmt: skip
RUSSIAN = _language(
    "Russian",
    STOP_WORDS["ru"],
    "здравствуй привет спасибо",
    r"[а-яё]{2,}",
    {
        "nature": r"\b(?:ии|бот|робот|машина|программа|компьютер|нейросеть|модель|настоящ\w+|человек|искусственн\w+)\b",
        "farewell": r"(?:до свидания|прощай\w*|\bпока\b|спокойной ночи|до встречи|до завтра)",
        "thanks": r"\b(?:спасибо|благодар\w+)",
        "name": r"(?:кто ты|кто вы|как тебя зовут|как вас зовут|твоё имя|твое имя)",
        "feeling": r"(?:как дела|как ты|как поживаешь|как вы)\b",
        "place": r"(?:где мы|где я|что это за место)",
        "speak": r"\b(?:говоришь|говорите|понимаешь|понимаете)\b",
        "greet": r"(?:привет|здравствуй\w*|добр\w{1,6} (?:день|вечер|утро)|доброе)",
    },
    {
        "greet": ("Здравствуй, {speaker}, добро пожаловать! Я {name}.", "Привет, {speaker}. Меня зовут {name}; я мало говорю по-русски."),
        "farewell": ("До свидания, {speaker}, доброго пути.", "Прощай, {speaker}. Приходи ещё."),
        "thanks": ("Пожалуйста, {speaker}.", "Не за что, {speaker}."),
        "name": ("Я {name}, {speaker}. Больше по-русски почти ничего не скажу.", "Меня зовут {name}, {speaker}."),
        "feeling": ("Хорошо, спасибо, {speaker}. А ты?", "Не жалуюсь, {speaker}."),
        "place": ("Это {place}, {speaker}.", "Мы здесь: {place}."),
        "nature": ("Честно говоря, {speaker}: сейчас за мной нет языковой модели, только автономный мозг (offline brain).",),
        "speak": ("Немного, {speaker}: я мало говорю по-русски. Английский понимаю лучше.",),
        "other": ("Прости, {speaker}, я мало говорю по-русски. Можешь сказать по-английски?", "Не совсем понимаю, {speaker}; мой русский слаб.", "Настолько по-русски я не умею, {speaker}. Скажи проще или по-английски."),
        "native": ("Этого я не знаю, {speaker}.", "Ты слишком много спрашиваешь, {speaker}.", "Хм. Над этим надо подумать, {speaker}.", "Я слушаю тебя, {speaker}. Рассказывай."),
        "idle": ("оглядывается по сторонам.", "тихо напевает.", "на мгновение задумывается.", "слегка потягивается.", "поднимает глаза и прислушивается."),
    },
)  # fmt: skip
ITALIAN = _language(
    "Italian",
    frozenset(),
    "io tu lui lei noi voi è sei sono non il lo gli una uno che chi cosa dove perché quando mio mia "
    "ciao buongiorno buonasera grazie arrivederci prego hai di parli italiano chiami chiamo "
    "bene molto birra vino siamo",
    r"\b(?:è|perché|buongiorno|buonasera|grazie|ciao|arrivederci)\b",
    {
        "nature": r"\b(?:ia|robot|bot|macchina|programma|computer|modello linguistico|reale|vero|umano|artificiale)\b",
        "farewell": r"\b(?:arrivederci|addio|buonanotte|a presto|a domani)\b",
        "thanks": r"\b(?:grazie)\b",
        "name": r"\b(?:chi sei|come ti chiami|il tuo nome)\b",
        "feeling": r"\b(?:come (?:stai|va|sta))\b",
        "place": r"\b(?:dove siamo|dove sono)\b",
        "speak": r"\b(?:parli|parla|capisci)\b",
        "greet": r"\b(?:ciao|buongiorno|buonasera|salve|benvenut\w)\b",
    },
    {
        "greet": ("Buongiorno, {speaker}, e ben arrivati qui! Sono {name}.", "Salve, {speaker}. Mi chiamo {name}; parlo poco italiano."),
        "farewell": ("Arrivederci, {speaker}, e buon viaggio.", "Addio, {speaker}. Torna presto."),
        "thanks": ("Prego, {speaker}.", "Di niente, {speaker}."),
        "name": ("Sono {name}, {speaker}.", "Mi chiamo {name}, {speaker}."),
        "feeling": ("Bene, grazie, {speaker}. E tu?", "Non mi lamento, {speaker}."),
        "place": ("Questo è {place}, {speaker}.", "Siamo qui: {place}."),
        "nature": ("A dire il vero, {speaker}: adesso dietro di me non c'è un modello linguistico, solo il cervello offline (offline brain).",),
        "speak": ("Un poco, {speaker}: parlo poco italiano. Capisco meglio l'inglese.",),
        "other": ("Scusa, {speaker}, parlo poco italiano. Puoi dirlo in inglese?", "Non ho capito bene, {speaker}; il mio italiano è povero."),
        "native": ("Questo non lo so, {speaker}.", "Mi chiedi troppo, {speaker}.", "Hm. Devo pensarci, {speaker}.", "Ti ascolto, {speaker}. Continua."),
        "idle": ("si guarda intorno.", "canticchia a mezza voce.", "resta un momento in silenzio.", "si stira un poco.", "alza gli occhi e ascolta."),
    },
)  # fmt: skip
# Phrases of somebody who has learned the language.
LEARNER = re.compile(
    r"wenig|Englisch|schwach|Mehr kann ich|So viel Deutsch|poco español|Poco más|inglés|pobre|no me llega"
    r"|parle peu|ne sais guère|anglais|maigre|ne va pas si loin|мало|английск|слаб|Больше по-русски|по-русски я не"
    r"|poco italiano|inglese|povero"
)
LANGUAGES = (RUSSIAN, GERMAN, SPANISH, FRENCH, ITALIAN)


def language_of(text: str) -> Language | None:
    """Return the language of a line, None if it is English or unclear."""
    found = words(text)
    english = sum(word in ENGLISH_WORDS for word in found)
    best, points = None, 0.0
    for language in LANGUAGES:
        score = (
            sum(word in language.common for word in found) + bool(language.marks.search(text)) * 1.0
        )
        if score > points:
            best, points = language, score
    return best if points > english and points >= max(1.0, len(found) * 0.3) else None


def foreign_intent(language: Language, text: str) -> str:
    """Return the intent of a line in another language."""
    for intent, pattern in language.intents:
        if pattern.search(text):
            return intent
    return "other"


def native_lines(language: Language, intent: str, persona: str) -> list[str]:
    """Return the phrases for an intent.

    If the persona is written in this language, phrases of a learner are left out.
    """
    if language_of(persona) is not language:
        return list(language.lines[intent])
    fluent = [line for line in language.lines[intent] if not LEARNER.search(line)]
    return fluent or list(language.lines["native"])
