"""The containers of docs/compose fit one another, the game's settings and the documentation.

No Docker runs here: images are not pulled, and nothing is started.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from evennia_ai.config.profiles import MODEL_VARIABLE, resolve_profile
from tests.postgresql import URL

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "compose"
COMPOSE = yaml.safe_load((FOLDER / "compose.yml").read_text(encoding="utf-8"))
SERVERS = yaml.safe_load((FOLDER / "servers.yml").read_text(encoding="utf-8"))  # beside COMPOSE
ADDED: dict[str, Any] = SERVERS["services"]
SERVICES: dict[str, Any] = {**ADDED, **COMPOSE["services"]}
SECRETS: dict[str, Any] = {**COMPOSE["secrets"], **SERVERS["secrets"]}
SCRIPT = (FOLDER / "game.sh").read_text(encoding="utf-8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
PROMETHEUS = yaml.safe_load((FOLDER / "prometheus.yml").read_text(encoding="utf-8"))
MADE_BY_THE_USER = ("./secrets/", "${MODEL_FOLDER")


def mounts() -> list[tuple[str, str, str]]:
    """Return the service, the source and the target of each mount."""
    return [
        (name, *re.fullmatch(r"(.*?):(/[^:]*)(?::ro)?", mount).groups())
        for name, service in SERVICES.items()
        for mount in service.get("volumes", ())
    ]


@pytest.mark.parametrize(("service", "source", "target"), mounts())
def test_every_mount_is_a_file_of_the_repository_or_a_volume(
    service: str, source: str, target: str
) -> None:
    if source.startswith(MADE_BY_THE_USER):
        return
    if source.startswith("."):
        assert (FOLDER / source).is_file()
    else:
        assert source in COMPOSE["volumes"]


def test_every_volume_is_used() -> None:
    assert set(COMPOSE["volumes"]) == {source for _, source, _ in mounts()} & set(
        COMPOSE["volumes"]
    )


def test_every_dockerfile_copies_what_there_is() -> None:
    for service in SERVICES.values():
        if "build" in service:
            context = (FOLDER / service["build"]["context"]).resolve()
            file = context / service["build"]["dockerfile"]
            for line in re.findall(r"^COPY (?!--from)(.+)", file.read_text(), re.M):
                *sources, _ = line.split()
                assert all((context / one).exists() for one in sources), line


def test_what_the_image_copies_is_not_ignored() -> None:
    ignored = (FOLDER / "game.Dockerfile.dockerignore").read_text().splitlines()
    copied = re.findall(r"^COPY (.+)", (FOLDER / "game.Dockerfile").read_text(), re.M)
    sources = {source for line in copied for source in line.split()[:-1]}
    assert {f"!{source}" for source in sources} == {one for one in ignored if one.startswith("!")}
    assert ignored[0] == "*"


def test_secrets_are_files_that_git_ignores_and_the_page_makes() -> None:
    used = {secret for service in SERVICES.values() for secret in service.get("secrets", ())}
    assert used == set(SECRETS)
    read = set(re.findall(r"\$\(secret (\w+)\)", SCRIPT))
    assert read == {*SERVICES["game"]["secrets"], *ADDED["game"]["secrets"]}
    made = re.search(r"for name in ([\w ]+); do", OPERATIONS)
    assert made and set(made[1].split()) == used
    for name, secret in SECRETS.items():
        assert secret == {"file": f"./secrets/{name}"}
        path = f"docs/compose/secrets/{name}"
        done = subprocess.run(["git", "check-ignore", "-q", path], cwd=ROOT, check=False)
        assert done.returncode == 0


def test_no_secret_stands_in_a_file() -> None:
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            assert not re.search("PASSWORD|TOKEN|SECRET|KEY", name) or str(value).startswith(
                "/run/secrets/"
            ), name


def test_ports_are_open_on_this_machine_only() -> None:
    for service in SERVICES.values():
        assert all(str(port).startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_the_game_listens_on_the_ports_of_its_settings() -> None:
    settings = (ROOT / "server" / "conf" / "settings.py").read_text()
    base = int(re.search(r"EVENNIA_AI_PORT_BASE\"\) or (\d+)", settings)[1])
    own = [f"127.0.0.1:{port}:{port}" for port in range(base, base + 3)]
    assert SERVICES["game"]["ports"] == own
    assert str(base + 1) in json.dumps(SERVICES["game"]["healthcheck"])
    exposed = re.search(r"^EXPOSE (.+)", (FOLDER / "game.Dockerfile").read_text(), re.M)
    assert exposed[1].split() == [str(port) for port in range(base, base + 3)]


def test_the_script_sets_what_the_settings_read() -> None:
    settings = (ROOT / "server" / "conf" / "settings.py").read_text()
    own = (FOLDER / "game_settings.py").read_text()
    assert f"export {URL}=" in SCRIPT and URL in settings
    for name in re.findall(r'os\.environ\["(\w+)"\]', own):
        assert f"export {name}=" in SCRIPT
    assert {"OPENAI_BASE_URL", MODEL_VARIABLE} <= set(SERVICES["game"]["environment"])


def test_prometheus_asks_the_services_at_their_ports() -> None:
    jobs = {job["job_name"]: job["static_configs"] for job in PROMETHEUS["scrape_configs"]}
    assert jobs == {"evennia": [{"targets": ["game:9464"]}], "model": [{"targets": ["model:8000"]}]}
    hook = (FOLDER / "telemetry.py").read_text()
    assert '"OTEL_EXPORTER_PROMETHEUS_PORT", "9464"' in hook
    assert SERVICES["game"]["environment"]["OTEL_EXPORTER_PROMETHEUS_HOST"] == "0.0.0.0"
    shown = re.search(r"`server/conf/telemetry.py`:\n\n +```python\n(.*?) +```", OPERATIONS, re.S)
    assert shown and hook.endswith(re.sub(r"^    ", "", shown[1], flags=re.M))


@pytest.mark.parametrize("name", ["vllm", "llamacpp"])
def test_both_model_servers_are_the_model_of_the_game(name: str) -> None:
    service = SERVICES[name]
    assert service["profiles"] == [name]
    assert service["networks"]["default"]["aliases"] == ["model"]
    assert "http://model:8000/v1" in SERVICES["game"]["environment"]["OPENAI_BASE_URL"]
    called = SERVICES["game"]["environment"]["EVENNIA_AI_MODEL"]
    served = [
        part.rpartition("=")[2] for part in service["command"] if "name=" in part or "alias" in part
    ]
    assert served and called.endswith(f":-{served[0]}}}")


def test_the_proxy_stands_before_both_servers_and_keeps_each_character_at_one() -> None:
    proxy = yaml.safe_load((FOLDER / "litellm.yml").read_text())
    served = [one["litellm_params"]["api_base"] for one in proxy["model_list"]]
    names = [ADDED["llamacpp-2"], SERVICES["llamacpp"]]
    aliases = [name for one in names for name in one["networks"]["default"]["aliases"]]
    assert sorted(served) == sorted(f"http://{name}:8000/v1" for name in aliases)
    assert {one["model_name"] for one in proxy["model_list"]} == {"game"}
    assert proxy["router_settings"]["optional_pre_call_checks"] == ["session_affinity"]
    game = ADDED["game"]["environment"]
    assert game["OPENAI_BASE_URL"] == "http://proxy:4000/v1"
    entries = json.loads(re.sub(r"\$\{\w+:-(\d+)\}", r"\1", game["MODEL_PROFILE"]))
    own = {"default": {"client": "openai", "model": "game", **entries}}
    assert resolve_profile("default", own).extra == {"metadata": {"session_id": "{character}"}}
    assert "MODEL_PROFILE" in (FOLDER / "game_settings.py").read_text()
    second = ADDED["llamacpp-2"]
    assert {**SERVICES["llamacpp"], "networks": second["networks"]} == second


def test_grafana_finds_its_data_source_and_the_dashboard() -> None:
    dashboards = yaml.safe_load((FOLDER / "grafana" / "dashboards.yml").read_text())
    folder = dashboards["providers"][0]["options"]["path"]
    targets = {target for name, _, target in mounts() if name == "grafana"}
    assert f"{folder}/evennia-ai.json" in targets
    source = yaml.safe_load((FOLDER / "grafana" / "datasources.yml").read_text())["datasources"][0]
    assert source["url"] == "http://prometheus:9090"
    board = json.loads((ROOT / "docs" / "grafana-dashboard.json").read_text())
    # A variable of the dashboard; what only an import by hand fills in would stay empty here.
    variables = {f"${{{one['name']}}}": one["query"] for one in board["templating"]["list"]}
    asked = {panel["datasource"]["uid"] for panel in board["panels"]}
    assert {variables[uid] for uid in asked} == {source["type"]}


def test_every_service_has_a_health_check_and_starts_again() -> None:
    for service in SERVICES.values():
        assert service["healthcheck"]["test"]
        assert service["restart"] == "unless-stopped"


def test_no_image_comes_from_another_registry() -> None:
    for service in SERVICES.values():
        name = re.sub(r"\$\{\w+:-(.+)\}", r"\1", service.get("image", "a/b:c"))
        assert re.fullmatch(r"[\w-]+/[\w-]+:[\w.]+", name)


def test_the_scripts_are_valid_for_a_shell() -> None:
    subprocess.run(["sh", "-n", str(FOLDER / "game.sh")], check=True)


def test_the_page_shows_how_to_start_each_model_server() -> None:
    for profile in ("vllm", "llamacpp"):
        assert f"docker compose --profile {profile} up -d" in OPERATIONS
