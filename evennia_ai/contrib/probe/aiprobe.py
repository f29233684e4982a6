"""``aitest/provider``: test the endpoint of a model profile."""

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.config import ModelProfile, choose_settings, resolve_profile
from evennia_ai.config.profiles import DEFAULT_PROFILE, OPENAI_ADDRESS
from evennia_ai.contrib.probe.prober import BAD, FATAL, GOOD, NOTE, sum_up
from evennia_ai.game.client_text import clean_address, clean_error, clean_output
from evennia_ai.game.settings import game_setting, game_settings
from evennia_ai.policy.redaction import shown_address
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.scheduling import Coroutine

WORDS = {GOOD: "|gok|n   ", NOTE: "|ynote|n ", BAD: "|rwrong|n", FATAL: "|rwrong|n"}
NAME_CHARS, MODEL_CHARS, LINE_CHARS, RESULT_CHARS = 60, 200, 400, 2_000


class CmdAIProbe(AICommand):
    """test the endpoint of a model

    Usage:
      aitest/provider [<profile>] [= <model>]

    For admins: asks the endpoint of a model profile, or of the game's own, whether
    it answers, in which form, whether it streams, and how fast, and says what to
    do about it. Takes up to half a minute, with a local model two minutes.
    """

    key = "aiprobe"
    aliases = ("aitest/provider",)

    def run(self) -> Deferred[None] | None:
        if not self.has_permission("Admin"):
            raise UsageError("Only admins may test an endpoint: the test sends it the game's key.")
        wanted = clean_heard(self.lhs, NAME_CHARS) or str(game_setting("profile", DEFAULT_PROFILE))
        resolve_profile(wanted, self.services.profiles)  # raises ConfigError
        own = {"profile": wanted, "llm_model": clean_heard(self.rhs or "", MODEL_CHARS) or None}
        profile = choose_settings(game_settings(), own, self.services.profiles).profile
        if not profile.has_model:
            self.msg(
                f"The profile '{clean_output(wanted)}' uses the stand-in, which is built in: "
                "there is nothing to test. aistatus says how to connect a model."
            )
            return None
        return self.probe(wanted, profile)

    @inlineCallbacks
    def probe(self, name: str, profile: ModelProfile) -> Coroutine[None]:
        model = clean_output(profile.model, 80) or "no model"
        address = clean_address(shown_address(profile.base_url or OPENAI_ADDRESS))
        self.tell(f"Testing '{clean_output(name)}': {address}, {model}")
        findings = yield self.extension("probe").prober.probe(profile, self.tell)
        lines = []
        for finding in findings:
            lines.append(f"{WORDS[finding.state]} {clean_error(finding.text, LINE_CHARS)}")
            lines += [f"      {clean_error(finding.advice, LINE_CHARS)}"] if finding.advice else []
        self.tell([*lines, clean_error(sum_up(findings, name), RESULT_CHARS)])
