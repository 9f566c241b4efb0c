"""The Python in the documents runs as it is written there, in order, with fewer steps, from the wheel alone."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import phijax as phi

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def python_of(page):
    """The Python of a page, each line where the page has it."""
    kept, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = line.startswith("```")
        inside = line == "```python" if fence else inside
        kept.append(line if inside and not fence else "")
    return "\n".join(kept)


SNIPPETS = {page: python for page in PAGES if (python := python_of(page)).strip()}


def test_the_readme_has_snippets():
    readme = SNIPPETS[ROOT / "README.md"]
    assert readme.count("phi.solve(") == readme.count("trainer.fit(") == 1


@pytest.mark.parametrize("page", SNIPPETS, ids=lambda page: page.name)
def test_snippets_run_in_order_from_the_wheel(page, installed, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(installed)}
    command = [sys.executable, "-P", "-W", "error", ROOT / "tests" / "few_steps.py", page]
    python = SNIPPETS[page]
    ran = subprocess.run(command, input=python, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == str(installed / "phijax" / "__init__.py")


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
