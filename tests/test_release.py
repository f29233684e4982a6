"""What a tag needs: one number everywhere, and a workflow that publishes without a secret."""

import re
from pathlib import Path

import pytest
import yaml

import evennia_ai

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAY_WRITE = {
    "build": {"id-token", "attestations"},
    "publish": {"id-token"},
    "release": {"contents"},
}


@pytest.fixture(scope="module")
def publish():
    return yaml.safe_load((ROOT / ".github" / "workflows" / "publish.yml").read_text())


def commands(job):
    return "\n".join(step.get("run", "") for step in job["steps"])


def actions(job):
    return [step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step]


def test_the_changelog_and_the_upgrade_page_name_this_version():
    changelog = (ROOT / "docs" / "changelog.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(evennia_ai.__version__)}\] - ", changelog, re.M)
    upgrade = (ROOT / "docs" / "upgrade.md").read_text(encoding="utf-8")
    assert f"This version is {evennia_ai.__version__}" in upgrade


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_uses_no_secret_and_writes_nothing_by_default(workflow):
    text = workflow.read_text(encoding="utf-8")
    assert "secrets." not in text
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}


def test_each_job_of_a_tag_may_write_only_what_it_makes(publish):
    rights = {
        name: {right for right, level in job["permissions"].items() if level == "write"}
        for name, job in publish["jobs"].items()
    }
    assert rights == MAY_WRITE


def test_a_tag_builds_checks_and_attests_the_distributions_and_the_site(publish):
    job = publish["jobs"]["build"]
    ran = commands(job)
    for command in ("-m build", "twine check --strict dist/*", "mkdocs build --strict"):
        assert command in ran
    assert "attest-build-provenance" in " ".join(actions(job))
    (attested,) = (step["with"]["subject-path"] for step in job["steps"] if "subject" in str(step))
    assert attested.split() == ["dist/*", "release/*.tar.gz"]


def test_the_release_comes_last_and_has_all_files(publish):
    job = publish["jobs"]["release"]
    assert (job["needs"], publish["jobs"]["publish"]["needs"]) == ("publish", "build")
    for files in ("files/dist/*", "files/release/*.tar.gz", "files/release/notes.md"):
        assert files in commands(job)
