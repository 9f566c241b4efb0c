"""The HTML report: one file that needs nothing else, and says what the run reached."""

import base64
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image
from sympy import Eq, exp, pi, sin

import phijax as phi
from phijax.evaluation import RunDirectory
from phijax.evaluation.html import _drawn, page, write_report
from phijax.training import History

x, t = phi.coordinate("x"), phi.time("t")
u, k = phi.field("u", x, t), phi.parameter("k", initial=1.0, positive=True)
rod = phi.Interval(x, 0, 1) * phi.Interval(t, 0, 2)


class Page(HTMLParser):
    """Tags that are open, those that were seen with their attributes, and the text."""

    def __init__(self, source):
        super().__init__()
        self.open, self.seen, self.words = [], [], []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "mspace"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def problem(name="heat <1>"):
    return phi.Problem(
        rod,
        {
            "pde": Eq(u.diff(t), k * u.diff(x, 2)),
            "start": phi.on(rod.at(t=0), Eq(u, sin(pi * x)), exact=True),
            "ends": phi.on(rod.boundary(x), Eq(u, 0)),
            "seen": phi.data({"x": [0.5, 0.5], "t": [0.5, 1.0], "u": [0.6, 0.4]}),
        },
        name=name,
        reference={u: exp(-(pi**2) * t / 10) * sin(pi * x), k: 0.1},
    )


def record(step, k):
    losses, weights = {"pde": 1.0, "ends": 0.1, "seen": 0.2}, {"pde": 1.0, "ends": 10.0, "seen": 1.0}
    weighted = {name: weights[name] * loss for name, loss in losses.items()}
    one = {"step": step, "total": sum(weighted.values()), "losses": losses, "weights": weights, "weighted": weighted}
    return one | {"parameters": {"k": k}, "seconds": 1.0}


@pytest.fixture
def solution(exact_solution):
    history = History([record(0, 1.0), record(10, 0.2), {"event": "stage", "step": 5, "reason": "done"}])
    values = {u: exp(-(pi**2) * t / 10) * sin(pi * x) + 0.001 * t, k: 0.1}
    return exact_solution(problem(), values, seed=3, steps=10, status="finished", stop_reason="all", history=history)


def test_the_report_is_whole_and_asks_nothing_of_a_network(solution, tmp_path):
    path = solution.report_html(tmp_path / "report")
    assert path == tmp_path / "report.html"
    source = path.read_text(encoding="utf-8")
    read = Page(source)
    assert read.open == []
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!data:)|@import|url\(|<script|<link", source)
    text = read.text
    for words in (
        "heat <1>", "finished at step 10, seed 3, float64", "u ( x , t )", "(x, t) ∈ [0, 1] × [0, 2]", "(exact)",
        "error against closed form", "unknown constant", "standard error", "residual on fresh points", "Versions", "jaxlib",
    ):  # fmt: skip
        assert words in text or words.replace(" ", "") in text.replace(" ", ""), words
    assert f"{solution.errors()['u']['max']:.2e}" in text
    assert f"{solution.residuals()['pde']:.2e}" in text
    assert "<msub><mi>u</mi><mrow><mi>x</mi><mi>x</mi></mrow></msub>" in source
    assert source.count("<math") == 4
    headings = re.findall(r"<h2>(.*?)</h2>", source)
    assert headings == [
        "Problem", "Run", "Results", "Fields", "Losses", "Unknown constants", "Residuals", "Domain and points", "Versions",
    ]  # fmt: skip
    pictures = [attrs["src"] for tag, attrs in read.seen if tag == "img"]
    sizes = [Image.open(io.BytesIO(base64.b64decode(src.partition(",")[2]))).size for src in pictures]
    assert len(sizes) == 5
    assert min(min(size) for size in sizes) > 200


def test_cautions_stand_out(exact_solution, tmp_path):
    conditions = {"start": phi.on(rod.at(t=0), Eq(u, 1)), "ends": phi.on(rod.boundary(x), Eq(u, 1))}
    bare = phi.Problem(rod, {"pde": Eq(u.diff(t), u.diff(x, 2)), **conditions})
    path = write_report(exact_solution(bare, {u: 1 + t}), tmp_path / "report.html", drawn={})
    (listed,) = re.findall(r'<ul class="cautions">(.*?)</ul>', path.read_text(encoding="utf-8"))
    assert "no reference solution is known" in listed
    assert "ends: the residual is" in listed
    assert "the equation does not hold yet" in listed


def test_of_a_folder_settings_reasons_and_versions_are_those_of_the_run(solution, tmp_path):
    config = {"seed": 3, "precision": "float64", "reasons": ["few <points> are enough"], "points": {"pde": 7}}
    run = RunDirectory.create(tmp_path / "run", problem(), config)
    (run.path / "environment.json").write_text('{"versions": {"jax": "0.0.7"}, "platform": "a <machine>"}')
    solution.folder = run.path
    source = page(solution, drawn={})
    assert "<li>few &lt;points&gt; are enough</li>" in source
    assert "pde = 7" in source
    assert "reasons" not in re.search(r"<pre>(.*?)</pre>", source, re.DOTALL).group(1)
    assert "<td>0.0.7</td>" in source
    assert "a &lt;machine&gt;" in source


def test_a_picture_that_fails_is_told_and_left_out():
    def fail():
        raise RuntimeError("no ink")

    with pytest.warns(UserWarning, match="the picture 'Residuals' was left out of the report: no ink"):
        found = _drawn({"Residuals": fail, "Fields": lambda: "picture"})
    assert found == {"Fields": "picture"}


def test_a_notebook_shows_the_results(solution):
    read = Page(solution._repr_html_())
    assert read.open == []
    assert sum(tag == "img" for tag, _ in read.seen) == 1
    assert "error against closed form" in read.text
    assert np.sum([tag == "html" for tag, _ in read.seen]) == 0


def test_without_a_folder_a_path_is_asked_for(solution):
    with pytest.raises(ValueError, match="the run has no folder for its report; give a path"):
        solution.report_html()
