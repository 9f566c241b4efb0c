"""The Python in the documents runs as it is written there, in order, with fewer steps."""

import re
from pathlib import Path

import pytest

import phijax as phi
from phijax.choice import trials

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
    monkeypatch.chdir(tmp_path)


def test_the_readme_has_snippets():
    assert len(SNIPPETS[ROOT / "README.md"]) >= 2


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.name)
def test_snippets_run_in_order(path, few_steps):
    names = {}
    for snippet in SNIPPETS[path]:
        exec(compile(snippet, str(path), "exec"), names)
