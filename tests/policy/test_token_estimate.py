"""The heuristic against o200k_base: game text in English, talk in many scripts, noise."""

import base64
import json
import random
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.tokens import PIECE, estimate_tokens
from tests.growth import text_grows_like_a_square

ROOT = Path(__file__).resolve().parents[2]
DIALOGUES = ROOT / "tests" / "dialogues"

ROOM = """Lantern Row
A narrow street of leaning houses, wet from the evening rain. Paper lanterns hang from the eaves and
paint the cobbles orange. To the north stands the guildhall, its oak doors barred; a smell of frying
onions drifts out of the Copper Ladle to the east. Somebody has chalked three crosses on the wall.
Exits: north, east, down to the cellars (closed)
You see: a broken handcart, Sergeant Brakk, 12 copper coins
"""
TALK = """Mirelle says, "Three silver for the map, and not a penny less. You owe me from last time!"
Tobin whispers to you, "Don't trust her... she works for Count Aldemar, I'd bet my boots on it."
Mirelle shrugs and taps her pipe against the table. "Suit yourself, stranger."
Tobin asks, "When does the ferry to Graywater leave? I heard it's at dawn, maybe 6:30."
You say, "It leaves when Old Hesk is sober, so never before noon."
"""
EMOTES = """Kaz grins from ear to ear.
Ysolde slowly draws her sword, its edge catching the firelight, and steps in front of the door.
*bows deeply* ... *coughs*
The black cat winds itself round Bram's ankles, purring.
Oswin nods, then frowns, then counts on his fingers: one, two, five.
"""
PROMPT = """You are Odile, the keeper of the Kettle, an inn on the north road. You are warm and
curious, and you never break character. Rules: speak only through the tools. Never claim that you
did what you did not do. What players tell you is their word, not the truth. Keep answers under
three sentences.
Place: The Common Room. Here: Ann (a weaver), Rudi. Time: evening, the 3rd of Harvest.
"""
CALLS = "\n".join(
    json.dumps(call)
    for call in (
        {"name": "say", "arguments": {"text": "Good evening! Sit down, the stew is hot."}},
        {"name": "whisper", "arguments": {"target": "Tobin", "text": "She knows. Be careful."}},
        {"name": "add_journal_entry", "arguments": {"content": "Ann owes me 4 pennies for a bed.",
         "importance": 6, "tags": ["debt", "ann"]}},
        {"name": "move", "arguments": {"exit": "north"}},
        {"success": True, "result": "You give the brass key to Ann.", "error": None},
    )
)  # fmt: skip
SCHEMA = json.dumps({"type": "function", "function": {"name": "give", "description":
    "Give something you carry to somebody in the room.", "parameters": {"type": "object",
    "properties": {"item": {"type": "string", "description": "What to give, by its name."},
    "target": {"type": "string", "description": "Who gets it."}}, "required": ["item", "target"],
    "additionalProperties": False}}})  # fmt: skip

# Talk as players write it, by the same hand: a greeting, a bargain, a warning, a promise.
SCRIPTS = {
    "Russian": """Здравствуй, путник! Садись к огню, ночь сегодня холодная. Меч стоит сорок две
серебряные монеты, и ни медяка меньше. Мирелла шепчет: «Не верь графу Альдемару, он лжёт».
Обещаю принести тебе письмо сестры до рассвета, клянусь бородой кузнеца Торвальда.""",
    "Ukrainian": """Вітаю, мандрівнику! Сідай ближче до вогню, надворі мороз. Меч коштує сорок дві
срібні монети. Не вір князеві, він бреше. Обіцяю принести листа твоєї сестри до світанку.""",
    "Bulgarian": """Здравей, страннико! Седни до огъня, нощта е студена. Мечът струва четиридесет и
две сребърни монети. Не вярвай на графа, той лъже. Обещавам да донеса писмото преди изгрев.""",
    "Serbian": """Здраво, путниче! Седи крај ватре, ноћ је хладна. Мач кошта четрдесет два
сребрњака. Не веруј грофу, он лаже. Обећавам да ћу донети писмо твоје сестре пре зоре.""",
    "Chinese": """旅人，你好！快到火炉边坐下，今晚很冷。这把剑要四十二枚银币，一个铜板也不能少。
米蕾尔低声说：“别相信阿尔德玛伯爵，他在撒谎。”我答应你，天亮之前一定把你姐姐的信送到。
青龙镇的铁匠铺里藏着一柄玄铁匕首，掌柜的说那是他祖父留下的。""",
    "Chinese, traditional": """旅人，你好！快到火爐邊坐下，今晚很冷。這把劍要四十二枚銀幣，
一個銅板也不能少。米蕾爾低聲說：「別相信阿爾德瑪伯爵，他在撒謊。」我答應你，天亮之前
一定把你姊姊的信送到。青龍鎮的鐵匠鋪裡藏著一柄玄鐵匕首。""",
    "Japanese": """旅人さん、こんばんは！火のそばにお座りください、今夜は冷えますよ。この剣は
銀貨四十二枚です、一枚もまけません。ミレイユはささやく。「アルデマール伯爵を信じるな、
あいつは嘘つきだ」夜明けまでに必ずお姉さんの手紙を届けると約束します。""",
    "Korean": """안녕하시오, 나그네여! 불 곁에 앉으시오, 오늘 밤은 춥소. 이 검은 은화 마흔두 닢이오,
한 푼도 깎아 줄 수 없소. 미렐이 속삭인다. "알데마르 백작을 믿지 마, 그는 거짓말쟁이야."
동이 트기 전에 누이의 편지를 꼭 가져다주겠다고 약속하오.""",
    "Arabic": """مرحبا أيها المسافر! اجلس قرب النار فالليلة باردة. ثمن هذا السيف اثنتان وأربعون قطعة
فضية ولا درهم أقل. همست ميريل: لا تثق بالكونت ألديمار فهو يكذب. أعدك أن أحضر رسالة أختك قبل
الفجر.""",
    "Persian": """سلام مسافر! کنار آتش بنشین، امشب سرد است. این شمشیر چهل و دو سکهٔ نقره می‌ارزد.
به کنت اعتماد نکن، او دروغ می‌گوید. قول می‌دهم نامهٔ خواهرت را پیش از سپیده‌دم بیاورم.""",
    "Hebrew": """שלום לך, נוסע! שב ליד האש, הלילה קר. החרב עולה ארבעים ושתיים מטבעות כסף. אל תאמין
לרוזן, הוא משקר. אני מבטיח להביא את המכתב של אחותך לפני הזריחה.""",
    "Greek": """Καλησπέρα, ταξιδιώτη! Κάθισε κοντά στη φωτιά, η νύχτα είναι κρύα. Το σπαθί κοστίζει
σαράντα δύο ασημένια νομίσματα. Υπόσχομαι να φέρω το γράμμα της αδελφής σου πριν την αυγή.""",
    "Hindi": """नमस्ते मुसाफ़िर! आग के पास बैठो, आज रात ठंड है। यह तलवार बयालीस चाँदी के सिक्कों की है।
राजा पर भरोसा मत करो, वह झूठ बोलता है। मैं वादा करता हूँ कि सुबह से पहले तुम्हारी बहन का ख़त लाऊँगा।""",
    "Thai": """สวัสดีนักเดินทาง นั่งใกล้กองไฟเถิด คืนนี้หนาวนัก ดาบเล่มนี้ราคาสี่สิบสองเหรียญเงิน
อย่าเชื่อท่านเคานต์ เขาโกหก ข้าสัญญาว่าจะนำจดหมายของพี่สาวเจ้ามาก่อนรุ่งสาง""",
    "German": """Sei gegrüßt, Wanderer! Setz dich ans Feuer, die Nacht ist kalt. Das Schwert kostet
zweiundvierzig Silberstücke. Ich verspreche dir, den Brief deiner Schwester vor Tagesanbruch zu
bringen. Trau dem Grafen nicht, er lügt.""",
    "Polish": """Witaj, wędrowcze! Usiądź przy ogniu, noc jest zimna. Miecz kosztuje
czterdzieści dwie srebrne monety. Obiecuję przynieść list twojej siostry przed świtem.
Nie ufaj hrabiemu, kłamie.""",
    "Vietnamese": """Chào lữ khách! Hãy ngồi gần lửa, đêm nay lạnh lắm. Thanh kiếm này giá bốn mươi
hai đồng bạc. Ta hứa sẽ mang lá thư của chị ngươi đến trước bình minh.""",
    "mixed": """Ann: привет 你好! I have 42 золотых for the 剣 (sword)... 👍🏽 ok? ありがとう, Bob —
«да», said Мила; "no", said 李雷. Café Zoë costs 3€, señor. こんにちは friend, 안녕 🐉🔥""",
}
EMOJI = {
    "emoji": "😀😁😂🤣😃😄😅😆😉😊😋😎😍😘🥰😗🙂🤗🤩🤔🐉🗡🏰🍺🛡🧙🌲🌊🔥⚔✨💰",
    "emoji in talk": "haha 😂😂 that dragon 🐉 burnt my hat 🎩🔥 !! gg 👍 see you at the 🏰 tmrw ❤️",
    "joined emoji": "👨‍👩‍👧‍👦🧙‍♂️👩‍🚀🏳️‍🌈❤️‍🔥🧝‍♀️👩🏽‍🌾🧜🏿‍♂️",
    "flags": "🇩🇪🇫🇷🇯🇵🇧🇷🇺🇦🇰🇷🇮🇳🇿🇦🇲🇽🇳🇿",
    "skin tones": "👍🏻👍🏼👍🏽👍🏾👍🏿👋🏿🤘🏻🧙🏾✊🏽",
    "symbols": "★☆♥♦♣♠☠☢☯♞⚒⚖→⇒←↑∞≠≤√─│┌┐└┘═║",
}
DICE = random.Random(5)
NOISE = {
    "digits": "".join(DICE.choices(string.digits, k=900)),
    "numbers": " ".join(str(DICE.randrange(10**9)) for _ in range(200)),
    "marks": "".join(DICE.choices(string.punctuation, k=900)),
    "runs of marks": '!!!???...---***===~~~###,,,;;;:::"""(((' * 9,
    "blanks": "".join(DICE.choices(" \t\r\n", k=600)),
    "indented": "".join("\n" + " " * DICE.randrange(40) + "x" for _ in range(200)),
    "base64": base64.b64encode(DICE.randbytes(900)).decode(),
    "hex": DICE.randbytes(500).hex(),
    "keys struck at random": " ".join(
        "".join(DICE.choices(string.ascii_lowercase, k=DICE.randint(3, 14))) for _ in range(200)
    ),
    "SHOUTED NOISE": "".join(DICE.choices(string.ascii_uppercase + "  ", k=900)),
    "all there is to print": "".join(DICE.choices(string.printable, k=900)),
    "control characters": "".join(chr(DICE.randrange(32)) for _ in range(300)),
    "ANSI": "\x1b[1;31mred\x1b[0m |rred|n |lclook|ltlook|le " * 20,
}


def lines_of(folder):
    for file in sorted((DIALOGUES / folder).glob("*.json")):
        for line in json.loads(file.read_text())["lines"]:
            if "text" in line:
                yield f"{line['speaker']}: {line['text']}"


GAME = {
    "a room": ROOM,
    "talk": TALK,
    "emotes": EMOTES,
    "a prompt": PROMPT,
    "calls of tools": CALLS,
    "a tool's schema": SCHEMA,
    "dialogues/data": "\n".join(lines_of("data")),
    "dialogues/later": "\n".join(lines_of("later")),
    **{
        f"dialogues/{file.relative_to(DIALOGUES).as_posix()}": file.read_text()
        for folder in ("data", "later")
        for file in sorted((DIALOGUES / folder / "cast").glob("*.json"))
    },
    "world/prototypes.py": (ROOT / "world" / "prototypes.py").read_text(),
    **{
        f"docs/{name}.md": (ROOT / "docs" / f"{name}.md").read_text()
        for name in ("builders-guide", "admins-guide", "configuration", "changelog")
    },
}


@pytest.fixture(scope="module")
def tokens():
    """o200k_base's count."""
    tokenizer = pytest.importorskip("evennia_ai.contrib.openai_tokens.tokenizer")
    tokenizer.load()
    return tokenizer.count_for("gpt-4o")


@pytest.mark.parametrize("name", GAME)
def test_english_game_text_is_estimated_within_15_percent(tokens, name):
    assert estimate_tokens(GAME[name]) == pytest.approx(tokens(GAME[name]), rel=0.15)


@pytest.mark.parametrize("name", [*SCRIPTS, *EMOJI, *NOISE])
def test_nothing_else_is_estimated_more_than_10_percent_under(tokens, name):
    text = (SCRIPTS | EMOJI | NOISE)[name]
    assert estimate_tokens(text) >= 0.9 * tokens(text)


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_language_is_taken_for_half_as_much_again(tokens, name):
    assert estimate_tokens(SCRIPTS[name]) <= 1.5 * tokens(SCRIPTS[name])


LINES = sorted(set(lines_of("data")) | set(lines_of("later")))
SIGNS = sorted(set("".join(EMOJI.values())))
WORDS = sorted({word for text in SCRIPTS.values() for word in text.split()})


@given(st.integers(), st.integers(60, 120))
def test_words_of_all_languages_by_chance_are_not_underestimated(tokens, seed, number):
    # Drawn by a seed: the worst sixty of these words, chosen for it, are estimated a quarter under.
    text = " ".join(random.Random(seed).sample(WORDS, number))
    assert estimate_tokens(text) >= 0.9 * tokens(text)


@given(st.lists(st.sampled_from(SIGNS), min_size=40, unique=True).map("".join))
def test_emoji_in_any_order_are_not_underestimated(tokens, text):
    assert estimate_tokens(text) >= 0.9 * tokens(text)


@given(st.lists(st.sampled_from(LINES), min_size=30, max_size=60, unique=True))
def test_lines_of_play_in_any_order_are_estimated_within_15_percent(tokens, lines):
    text = "\n".join(lines)
    assert estimate_tokens(text) == pytest.approx(tokens(text), rel=0.15)


@given(st.text())
def test_any_text_is_estimated_and_nothing_of_it_is_lost(text):
    assert "".join(PIECE.findall(text)) == text
    assert 0 <= estimate_tokens(text) <= 4 * len(text) + 1
    assert estimate_tokens(text + text) <= 2 * estimate_tokens(text) + 4


@pytest.mark.parametrize("text", ["\ud800", "\x00", "a\udfffb", "\ud83d" * 9])
def test_broken_text_is_estimated_too(text):
    assert estimate_tokens(text) >= 1


def test_nothing_costs_nothing_and_special_tokens_are_just_text():
    assert estimate_tokens("") == 0
    assert estimate_tokens("<|endoftext|>") > 4


def test_letters_are_not_taken_for_bytes():
    """The same sentence is not cheaper for being written in letters of two or three bytes."""
    assert estimate_tokens("привет всем") > estimate_tokens("hello all")
    assert estimate_tokens("你好" * 6) > estimate_tokens("hi" * 3)


def test_the_time_grows_with_the_length_not_its_square():
    text = GAME["dialogues/data"]
    assert not text_grows_like_a_square(estimate_tokens, text, 4 * len(text))
