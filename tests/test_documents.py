"""The Python in the documents runs as it is written there, in order, with fewer steps."""

import inspect
import re
from pathlib import Path

import pytest

import phijax as phi
from phijax.choice import rules, trials

ROOT = Path(__file__).parents[1]
SNIPPETS = {
    path: found
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    if (found := re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))
}


@pytest.fixture
def few_steps(monkeypatch, tmp_path):
    whole = phi.Trainer.__init__
    monkeypatch.setattr(phi.Trainer, "__init__", lambda self, max_steps, **more: whole(self, 2, **more))
    monkeypatch.setattr(phi.GaussNewton, "steps", 2)
    monkeypatch.setattr(trials, "ISOTROPIC", (2.0,))
    monkeypatch.setattr(trials, "MOST_TRIALS", 1)
    monkeypatch.setattr(rules, "WIDTH", 6)
    monkeypatch.chdir(tmp_path)


def test_the_readme_has_snippets():
    assert len(SNIPPETS[ROOT / "README.md"]) >= 2


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.name)
def test_snippets_run_in_order(path, few_steps):
    names = {}
    for snippet in SNIPPETS[path]:
        exec(compile(snippet, str(path), "exec"), names)


def public_names():
    return [name for name, value in vars(phi).items() if not name.startswith("_") and not inspect.ismodule(value)]


def test_every_public_name_says_what_it_is():
    def bare(value):
        said = vars(value).get("__doc__") if inspect.isclass(value) else inspect.getdoc(value)
        return not said or said.startswith(f"{value.__name__}(")  # what dataclass writes where nothing is written

    assert [name for name in public_names() if bare(getattr(phi, name))] == []


def test_the_api_page_has_every_public_name_once():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: phijax\.(?:solve\.)?(\w+)$", page, re.MULTILINE)  # solve is a module, too
    assert sorted(listed) == sorted(public_names())


def test_the_site_has_every_page_in_its_navigation():
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"^  - [^:]+: (\w+\.md)$", config, re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))
