"""Lore and personas: written by builders, known by whom they say, told to whom they allow."""

import pytest

from tests.scripted import call

pytestmark = pytest.mark.engine


@pytest.fixture
def mira(service, game, tavern):
    # The stand-in is told all lore, a model what the talk touches.
    service.profiles["default"] = {"client": "openai", "model": "m", "base_url": "http://m/v1"}
    return game.assistant("Mira", tavern)


def known_after(game, player, line):
    """What of a prompt's scenes is lore, after somebody said something."""
    game.model.add(call("noop"))
    player.do(line)
    game.run()
    return [row for row in game.told().splitlines() if row.startswith("You know: ")]


def test_what_the_talk_touches_is_told_once_and_withdrawn_with_its_piece(game, builder):
    builder.do("ailore/set The old gate = Hanno built the gate.")
    assert known_after(game, builder, "say nice weather") == []
    known = ["You know: The old gate: Hanno built the gate."]
    for line in ("say who built the gate?", "say nice weather", "say that gate again"):
        assert known_after(game, builder, line) == known
    builder.do("ailore/set The old gate = Nobody built the gate.")
    assert known_after(game, builder, "say nice weather") == []
    assert known_after(game, builder, "say so who built the gate?") == [
        "You know: The old gate: Nobody built the gate."
    ]
    builder.do("ailore/delete The old gate")
    assert known_after(game, builder, "say nice weather") == []


@pytest.mark.parametrize(
    ("scope", "give"),
    [
        ("tag:keeper", lambda mira: mira.tags.add("keeper")),
        ("faction:guild", lambda mira: mira.tags.add("guild", category="faction")),
        ("room:inn", lambda mira: mira.location.tags.add("inn")),
    ],
)
def test_only_who_has_the_scope_knows_it(game, builder, mira, scope, give):
    builder.do(f"ailore/set The gate : {scope} = Hanno built the gate.")
    assert known_after(game, builder, "say the gate?") == []
    give(mira)
    assert known_after(game, builder, "say the gate!") != []


@pytest.mark.parametrize("scope", ["room:here", "room:{number}", "room:#{number}", "Room:HERE"])
def test_a_piece_may_be_for_the_room_one_stands_in(game, builder, mira, tavern, scope):
    scope = scope.format(number=tavern.id)
    assert f"(room:{tavern.dbref})" in builder.told(f"ailore/set Gate : {scope} = Hanno built it.")
    assert "Gate" in builder.told("ailore/for Mira")
    mira.location = game.room("Far")
    told = builder.told("ailore/for Mira")
    assert "Lore that Mira may tell you: 0 of 1 entry." in told
    assert f"Gate no: neither the character nor its room has room:{tavern.dbref}" in told


def test_a_quest_secret_is_told_only_where_all_who_hear_have_the_flag(game, builder, tavern):
    told = builder.told("ailore/set The dragon : quest:dragon = It sleeps under the gate.")
    assert "only if everybody who hears it has quest:dragon" in told
    told = builder.told("ailore/set The watch : faction:watch = It is asleep.")
    assert "Characters with faction:watch know it, and may tell it to anybody. To limit" in told
    ann, ben = game.player("Ann", tavern), game.player("Ben", tavern)
    for player in (builder, ann):
        player.character.tags.add("dragon", category="quest")
    assert known_after(game, ann, "say Mira, the dragon?") == []
    ben.account.unpuppet_object(ben.session)
    assert known_after(game, ann, "say Mira, the dragon!") != []


def test_a_key_brings_a_piece_in_and_stays_when_its_text_is_written_anew(game, builder):
    builder.do("ailore/set The menu = Stew is four pennies.")
    builder.do("ailore/set The dice = No stakes above a crown.")
    assert known_after(game, builder, "say is it crowded here?") == []
    told = builder.told("ailore/keys The menu = crowded, for dinner")
    assert "Keys of The menu: crowded, for dinner" in told
    builder.do("ailore/set The menu = Stew is five pennies.")
    assert builder.told("ailore").index("The menu") < builder.told("ailore").index("The dice")
    assert known_after(game, builder, "say does it get crowded in here?") == [
        "You know: The menu: Stew is five pennies."
    ]
    told = builder.told("ailore/delete The menu")
    assert "ailore/set The menu : all = Stew is five pennies." in told
    assert "ailore/keys The menu = crowded, for dinner" in told


def test_an_entry_keeps_its_scope_unless_another_is_given(builder):
    builder.do("ailore/set The postern : faction:watch = It is behind the ivy.")
    told = builder.told("ailore/set The postern = It is behind the vine.")
    assert "(faction:watch)" in told and "It keeps its scope: faction:watch." in told
    assert "(all)" in builder.told("ailore/set The postern : all = It is behind the vine.")


def test_lore_stands_in_modules_too_and_cannot_be_deleted_there(game, settings, builder):
    from evennia_ai.store.lore_records import LoreRecords

    game.service.lore.fixed = LoreRecords(["tests.game.some_lore"]).fixed
    assert "Harbour" in builder.told("ailore")
    assert "comes from a module in LORE" in builder.told("ailore/delete Harbour")
    assert "comes from a module in LORE" in builder.told("ailore/keys Harbour = ice")
    assert game.service.lore.find("Harbour").keys == ("ship", "sail away")


def test_one_persona_for_twenty_guards(game, builder, tavern):
    builder.do("aisetup/persona guard = You are a guard of the north gate.")
    builder.do("aisetup/persona guard.never = sleep; take bribes")
    for number in range(2):
        assert "has an assistant" in builder.told(f"aisetup/new Guard{number} = @guard")
    assert "You never:\n- sleep\n- take bribes" in builder.told("aisetup/persona guard")
    persona = next(o for o in tavern.contents if o.key == "Guard1").assistant.mind.who.persona
    assert persona.never == ("sleep", "take bribes")
    builder.do("aisetup/persona guard.voice = hoarse")
    persona = next(o for o in tavern.contents if o.key == "Guard0").assistant.mind.who.persona
    assert persona.voice == "hoarse"
    told = builder.told("aisetup/persona guard = You are a guard of the south gate.")
    assert "@guard is changed for 2 characters: Guard0, Guard1." in told
    persona = next(o for o in tavern.contents if o.key == "Guard0").assistant.mind.who.persona
    assert (persona.text[-11:], persona.never) == ("south gate.", ("sleep", "take bribes"))
    assert "used by Guard0, Guard1" in builder.told("aisetup/delete @guard")
    assert "@gaurd is new and not used yet. To use it: aisetup <ch" in builder.told(
        "aisetup/persona gaurd.never = nap"
    )
    assert "is deleted" in builder.told("aisetup/delete @Gaurd")
    assert "There is no shared persona" in builder.told("aisetup/persona gaurd")
    refused = builder.told("aisetup/set Guard0/persona.voice = soft")
    assert "aisetup/persona guard.voice = ..." in refused


def test_a_characters_own_lore_is_told_as_such_and_where_it_is_changed(builder, mira, settings):
    mira.db.ai_lore = [{"title": "The quay", "text": "It is wet."}]
    assert "Its own, from its Attribute ai_lore: 1 entry." in builder.told("ailore/for Mira")
    for command in ("ailore/delete The quay", "ailore the quay", "ailore/keys The quay = wet"):
        assert "is Mira's own, from its Attribute ai_lore: change it" in builder.told(command)


def test_a_modules_lore_is_not_written_a_second_time(game, builder):
    from evennia_ai.store.lore_records import LoreRecords

    game.service.lore.fixed = LoreRecords(["tests.game.some_lore"]).fixed
    assert "comes from a module in LORE" in builder.told("ailore/set Harbour = It is closed.")
    assert len(game.service.lore.entries()) == len(game.service.lore.fixed)


def after_a_while(game, player, line):
    player.forget()
    player.do(line)
    game.run(1)
    return "\n".join(player.heard())


def test_a_line_names_no_entry_unfit_that_was_not_asked_for(game, builder, mira):
    builder.do("ailore/set Gate = Hanno built the north gate.")
    builder.do("ailore/set Soup = The soup is leek on Mondays.")
    told = after_a_while(game, builder, "ailore/for Mira = Who built the gate?")
    assert "tokens. Not about this line: 1 other entry." in told and "do not fit" not in told


def test_a_small_budget_says_that_it_is_a_small_models(game, builder, mira):
    game.service.profiles["small"] = {"client": "openai", "model": "m", "form": "text"}
    mira.assistant.db.profile = "small"
    builder.do("ailore/set Gate = Hanno built the north gate.")
    told = after_a_while(game, builder, "ailore/for Mira = Who built the gate?")
    assert "half of the usual: the model is asked in the mode plain" in told
