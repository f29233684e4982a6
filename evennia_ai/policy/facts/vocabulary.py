"""Word lists for the recognition of facts; nothing is decided here."""

from __future__ import annotations

# A run of plain words after one of these names a thing.
DETERMINERS = frozenset(
    """a an the my your his her its our their this that these those some any every each another
    whose no both""".split()
)
PLACING = frozenset(
    """in at to from near under underneath beneath behind inside beside below above beyond between
    across along around into onto through toward towards outside past within over on off""".split()
)
JOINING = frozenset("of with for by before after until till without against about like".split())

# Russian and Ukrainian too; words of other languages look too much like English ones.
CYRILLIC_WORDS = frozenset(
    """я ты вы он она оно они мы мне меня мной тебе тебя вам вас нам нас ему его ей её ее им их
    мой моя моё мои твой твоя твои ваш ваша наш наша свой свою это этот эта эти то тот та те что
    кто как где когда если чтобы или но а и да нет не ни же бы ли уже ещё еще только очень там
    тут здесь сейчас потом тоже так вот на в во за с со к ко у о об от до из по под над при про
    для без через перед после между был была было были есть будет буду быть мені тебе він вона
    вони ми ви це що хто як де коли якщо щоб або але та й так ні не у з із зі до від по під був
    була було буде привет здравствуй здравствуйте спасибо прости извини хорошо ладно конечно
    привіт вітаю дякую добре""".split()
)

# Words that never belong to the name of a thing.
FUNCTION_WORDS = frozenset(
    """i me mine myself you yours yourself he him himself she hers herself it itself we us ours
    they them theirs who whom what which when where why how and or but nor so yet if then
    than as because while though although not never ever always often only just also too
    very really quite rather almost still already again here there now soon once twice maybe
    perhaps well yes no aye nay oh ah please thanks thank sorry okay ok hello hi hey goodbye
    bye am is are was were be been being do does did done doing have has had having will
    would shall should can could may might must i'm i'll i'd i've you're you'll you'd you've
    he's she's it's that's there's here's we're we'll we've they're they'll they've who's
    what's where's let's don't doesn't didn't won't wouldn't can't cannot couldn't shouldn't
    isn't aren't wasn't weren't haven't hasn't hadn't ain't let up down out away back much
    many more most less least few all none nothing something anything everything someone
    somebody anyone anybody everyone everybody nobody somewhere anywhere nowhere such same
    own other else even enough together alone apart ago it'll dont im ive ill whats""".split()
) | DETERMINERS | PLACING | JOINING | CYRILLIC_WORDS  # fmt: skip

# Verbs end the name of a thing ("the blue ledger belongs to ..."), and may begin a sentence.
VERBS = frozenset(
    """accept add agree allow answer appear arrive ask await bake beat become beg begin believe
    belong betray bind bite bless borrow break bring build burn bury buy call care carry
    carve catch cause charge chase choose claim clean climb close collect come contain cost
    count cover cross cry cure cut dance dare deliver demand deny depart deserve despise
    detest die dig disappear dislike drink drive drop drown earn eat end enjoy enter escape
    expect explain fall fear feed feel fetch fight fill find finish fix flee fly follow
    forbid forget forgive gather get give go grow guard guess guide hand hang happen hate
    haunt hear heal help hide hire hit hold hope hunt hurt imagine keep kill kiss know lack
    last laugh lay lead learn leave lend lie like listen live loathe look lose love make
    marry matter mean meet mend mention miss move murder need notice offer open order owe
    own pay pick plan play pray prefer prepare pretend promise protect prove pull push put
    reach read recall receive refuse remain remember remind repair repay reply rescue rest
    return ride ring rise rob run sail save say search see seek seem sell send serve set
    share show shut sing sit sleep smell smuggle sound speak spend spill spread stand start
    stay steal stop strike study suggest swear swim take talk taste teach tell think
    threaten throw touch trade train travel treat trust try turn understand use vanish visit
    vow wait wake walk want warn wash watch wear win wish wonder work worry worship write
    adore dread""".split()
)  # fmt: skip
PAST = frozenset(
    """ate became began bit bled blew bore borne bought bound broke broken brought built burnt came
    caught chose chosen cost cut died drank drew drove drowned dug fallen fed fell felt flew
    fled forgave forgot forgotten fought found gave given gone got grew grown heard held hid
    hidden hung kept knew known laid lay learnt led left lent lied lost made married meant
    met paid proved put ran rang read rode rose said sailed sang sat saw seen sent shook
    shut slept sold spent spoke stole stolen stood struck sung swam swore sworn taken taught
    told took took threw thrown went woke won wore worn wrote written owes owed going coming
    called named hid""".split()
)


def _forms(verb: str) -> tuple[str, ...]:
    """Return the regular forms of a verb."""
    stem = verb.removesuffix("e")
    if verb.endswith("y") and verb[-2] not in "aeo":
        return verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"
    ending = "es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s"
    doubled = (f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing")
    return verb, verb + ending, f"{stem}ed", f"{stem}ing", *doubled


VERB_FORMS = frozenset(form for verb in VERBS for form in _forms(verb)) | PAST
ADVERBS = frozenset(
    """today's tonight's certainly surely probably actually honestly truly finally suddenly quickly
    slowly carefully exactly nearly usually later earlier afterwards instead anyway indeed forever
    forward straight far close long ever quite straightaway immediately""".split()
)
BREAKS = FUNCTION_WORDS | VERB_FORMS | ADVERBS
# Verbs that are also nouns: "the silver ring", "three guards".
ALSO_NOUNS = frozenset(
    """answer bake bite build burn buy call care catch cause charge claim climb close count cover
    cross cry cure cut dance dare deal demand dread drink drop end escape fall fear feed fight find
    fix fly guard guess guide hand hate haunt help hide hit hold hope hunt hurt kill kiss lack laugh
    lead leave lie look love match need notice offer order pick plan play pledge praise prayer price
    pull push read remains repair reply rescue rest return ride ring rise run sail seal search set
    share show sleep smell smoke sound spell spread stand start stay stop strike study swim talk
    taste touch trade train travel treat trust try turn use visit vow wait walk wash watch win wish
    wonder work worry worship wound""".split()
)
# Forms in -s of the above that are still verbs.
VERBS_ALL_THE_SAME = frozenset(
    """builds buys finds hides hits holds hurts lacks leads leaves lies pushes puts reads sets shows
    starts stays stops swims takes waits wins""".split()
)
# Words that end the name of a thing.
NAME_BREAKS = (BREAKS - ALSO_NOUNS - {f"{noun}s" for noun in ALSO_NOUNS}) | VERBS_ALL_THE_SAME

# Words too general to be facts by themselves.
GENERIC = frozenset(
    """thing things stuff way ways time times lot lots bit kind sort one ones man men woman women
    person people folk folks part place point matter day days night moment while word words side end
    rest fact idea problem question answer truth story reason good bad big small new old nice great
    little other same fine sure true right wrong last first next friend stranger traveller sir lady
    everyone course case chance luck world life hand hands eye eyes head face""".split()
)

# Words that begin sentences with a capital but are not names.
STARTERS = (
    BREAKS
    | GENERIC
    | frozenset(
        """good evening morning afternoon night welcome greetings farewell cheers alas ha haha heh
        hmm hm mm um uh er wow ugh psst shh hush right true false fine great nice sure indeed
        certainly absolutely exactly perhaps anyway besides however meanwhile otherwise therefore
        first second third next last later today tomorrow yesterday tonight lord god gods damn bless
        curse congrats sweet lovely beautiful strange funny odd quiet quick careful beware behold
        interesting forgive excuse pardon whoever whatever whenever wherever since unless during
        yeah yep yup yea nope nah whoa woah gotta gonna wanna lemme gotcha cool crazy glad plus btw
        lol omg hah oof ahoy oi hurray hooray hurrah bravo hush mhm ooh aah okay eh yay ouch ha hee
        despite two three four five six seven eight nine ten eleven twelve one dear poor silly big
        little""".split()
    )
)

TITLES = frozenset(
    """mr mrs ms miss dr sir dame lord lady king queen prince princess count countess duke duchess
    baron captain sergeant master mistress brother sister father mother uncle aunt old young saint
    st professor doctor bishop abbot""".split()
)
NAME_JOINTS = frozenset("of the de du da des del della di la le von van der den al ibn bin".split())

NUMBER_WORDS = {
    "zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
SCALES = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000}

RELATIONS = frozenset(
    """sister brother mother father son daughter wife husband uncle aunt cousin niece nephew
    grandmother grandfather grandson granddaughter stepmother stepfather stepson stepdaughter twin
    mum mom dad fiance fiancee betrothed lover sweetheart widow widower apprentice mentor master
    teacher pupil partner neighbour neighbor rival enemy boss servant ward godfather godmother
    companion squire captain landlord landlady dog cat horse mule pony hound goat donkey""".split()
)
TIMES = frozenset(
    """dawn dusk noon midday midnight sunrise sunset sundown daybreak nightfall twilight tonight
    tomorrow yesterday today monday tuesday wednesday thursday friday saturday sunday january
    february march april june july august september october november december spring summer autumn
    winter midsummer midwinter solstice equinox harvest moonrise morning evening afternoon fortnight
    week weeks month months year years hour hours minute minutes days nights moon moons o'clock
    eve""".split()
)
# "Good morning", "for a minute": not a time, except after a preposition.
VAGUE_TIMES = frozenset(
    """morning evening afternoon minute minutes hour hours days week weeks month months year years
    nights today eve""".split()
)

# Cues for the kind of a sentence: words, pairs of words, and parts of words beyond English.

CUE_WORDS = {
    "debt": """owe owes owed owing debt debts borrow borrows borrowed lent lend lends loan repay
        repaid""",
    "promise": """promise promises promised promising swear swears swore sworn vow vows vowed oath
        oaths agree agreed agreement pact deal bargain guarantee guaranteed pledge pledged""",
    "task": """i'll we'll must remind bring fetch deliver remember forget""",
    "secret": """secret secrets secretly password passphrase watchword codeword confess
        confessed betray betrayed whisper spy poison""",
    "preference": """love loves loved likes liked hate hates hated loathe loathes prefer prefers
        adore adores despise despises dread dreads detest detests enjoy enjoys dislike dislikes fear
        fears favourite favorite favourites favorites allergic fond""",
    "identity": "called named nicknamed born hail hails years",
    "item": """give gives gave given handed hands took taken stole stolen steal steals lost found
        bought sold sell sells carry carries carried own owns owned received receive
        dropped hid hidden hides bury buried cost costs belong belongs wear wears wore traded
        trade""",
    "possession": "have has had i've got keep keeps kept hold holds",
}
CUE_PAIRS = {
    "debt": "my debt|pay back|paid back|me back|you back|him back|her back",
    "promise": "my word|on me",
    "task": """i will|we will|i shall|we shall|to remember|you to|have to|need to|you should
        |going to|look for|look after|meet me|give me|tell me|find me|take this|ask for|wait for""",
    "secret": """between us|tell nobody|tell anyone|tell anybody|else knows|nobody knows
        |one knows""",
    "preference": """i like|we like|you like|they like|really like|don't like|doesn't like
        |afraid of|can't stand|cannot stand|can't bear|cannot bear|can't eat|cannot eat
        |can't drink|never eat|never eats|never drink|never drinks|never touch|tired of
        |scared of""",
    "identity": """my name|call me|calls me|known as|work as|works as|work for|works for|work at
        |works at|live in|lives in|live at|lives at|live near|lives near|live on|lives on|live by
        |lives by|live under|lives under|live above|lives above|live beyond|lives beyond|live behind
        |lives behind|lived in|come from|comes from|came from|am from|i'm from|is from|i'm a|i'm an
        |i'm the|am a|am an|am the|is my|was my|are my|is the|is a|is an|was the|was a|is our""",
    "item": "here is|here's the|here's your|here's a",
}
FOREIGN_CUES = {
    "debt": """долж[еон]|долг|винен|schulde|geliehen|geborgt|bekommst noch|kriegst noch|debo
        |debes|dois|欠|借り|빚|مدين|חייב""",
    "promise": """обеща|обіця|клян|versprech|versprich|versproch|schwör|mein Wort|promet|jure
        |juro|obiecuj|przysięg
        |答应|答應|承诺|承諾|保证|保證|发誓|發誓|约定|約定|約束|誓|약속|맹세|أعد|وعد|أقسم|قول می
        |מבטיח|υπόσχ|वादा|สัญญา""",
    "secret": """тайн|секрет|таємн|geheim|Geheim|keinem|niemandem|verrat|unter uns|秘密|비밀|سر
        |סוד""",
    "relation": """\b(?:[mds]ein|ihr|unser)(?:e[mnrs]?)? (?:Bruder|Schwester|Mutter|Vater|Frau|Mann
        |Sohn|Tochter|Onkel|Tante|Vetter|Base|Neffe|Nichte|Großvater|Großmutter|Freund|Freundin
        |Verlobte|Meister|Lehrling|Nachbar|Nachbarin|Hund|Katze|Pferd)\b""",
    "preference": """ненави|люблю|обожа|hasse|liebe|[Ii]ch mag |würde so? ?gern|Lieblings|vertrage
        |fürchte|Angst vor|讨厌|喜欢|討厭|喜歡|嫌い|好き|싫어|좋아""",
    "identity": """зовут|звати|heiße|heisse|nennt mich|nennen mich|komme aus|wohne|von Beruf
        |geboren|m'appelle|llamo|叫|と申し|という|이름|اسمي""",
    "task": """brauche|[Ii]ch muss|[Ii]ch bringe|[Ii]ch suche|treffen uns|zurück|\bwerde ich""",
}
# No English word; a sentence with one of them is searched for the cues above too.
GERMAN_WORDS = frozenset(
    """ich mich mir mein meine meinem meinen meiner dich dir dein deine deinem wir uns unser unsere
    euch und nicht ist der das ein eine einen sie""".split()
)
