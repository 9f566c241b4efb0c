"""The page of the benchmark: what was run, who is ahead and by how much, what is missed, and what was not run."""

import numpy as np
import pytest

from phijax.bench.accuracy import Row
from phijax.bench.accuracy_cases import case_named
from phijax.bench.comparison import Ahead, against_classical, against_published
from phijax.bench.page import write_page
from phijax.bench.pictures import MOST_BYTES, save_small
from phijax.evaluation.files import write_json
from phijax.evaluation.plots.panels import new_figure
from phijax.problems import Info


def row(errors, wall=60.0):
    worst = {"": max(errors.values())}
    return Row("burgers", "solve", 120, 3, 0, worst, worst, errors, wall, 1e-5)


CLASSICAL, NETWORK, NEITHER = "The classical solver is ahead", "The network is ahead", "Neither is ahead in both"


@pytest.mark.parametrize(
    ("errors", "classical", "ahead", "sentence"),
    [
        ({"u": 3e-5}, (1e-6, 0.2), Ahead.CLASSICAL, f"{CLASSICAL}: 30 times less error in 300 times less time."),
        ({"u": 3e-15}, (1e-14, 0.5), Ahead.CLASSICAL, f"{CLASSICAL}: the same error in 120 times less time."),
        (
            {"u": 1.5e-6},
            (1e-6, 240),
            Ahead.NETWORK,
            f"{NETWORK}: the classical solver has the same error in 4.0 times the time.",
        ),
        (
            {"u": 1e-8},
            (1e-6, 0.2),
            Ahead.EITHER,
            f"{NEITHER}: the network has 100 times less error, the classical solver takes 300 times less time.",
        ),
        (
            {"u": 1e-4},
            (1e-6, 120),
            Ahead.EITHER,
            f"{NEITHER}: the classical solver has 100 times less error in 2.0 times the time.",
        ),
        (
            {"u": 1e-8},
            (1e-6, 120),
            Ahead.NETWORK,
            f"{NETWORK}: 100 times less error, and the classical solver takes 2.0 times the time.",
        ),
        (
            {"u": 1e-3, "v": 2e-3, "p": 1.0},
            ({"u": 1e-8, "v": 1e-9}, 6),
            Ahead.CLASSICAL,
            f"{CLASSICAL}: 2e+06 times less error in 10 times less time.",
        ),
        ({"u": np.inf}, (1e-6, 1), Ahead.CLASSICAL, f"{CLASSICAL}: half of the network's runs or more failed."),
    ],
)
def test_who_is_ahead_of_a_classical_solver_and_by_how_much(errors, classical, ahead, sentence):
    found = against_classical(row(errors), Info(1e-5, classical=(*classical, "a method")))
    assert (found.ahead, found.sentence) == (ahead, sentence)


@pytest.mark.parametrize(
    ("error", "said"),
    [(1e-4, "1,000 times less than here"), (1.3e-7, "the same"), (1e-9, "100 times more than here")],
)
def test_the_best_published_figure_has_its_source_and_a_factor(error, said):
    info = Info(1e-5, published=(1e-7, "somebody, a year"))
    assert (
        against_published(row({"u": error}), info)
        == f"The best published figure is 1.0e-07 (somebody, a year): {said}."
    )
    assert against_published(row({"u": error}), Info(1e-5)) == ""
    assert against_classical(row({"u": error}), Info(1e-5)) is None


def test_a_run_that_took_longer_than_its_budget_is_marked():
    assert [row({"u": 1e-6}, wall).time for wall in (119.0, 125.0, 130.0)] == ["119", "125", "130 (over)"]


def test_pictures_are_small_and_coarser_where_there_is_much_to_see(tmp_path):
    figure = new_figure(12, 9)
    figure.subplots().imshow(np.random.default_rng(0).random((900, 1200)))
    save_small(figure, tmp_path / "noise.png")
    assert (tmp_path / "noise.png").stat().st_size > 0
    plain = new_figure(6, 4)
    plain.subplots().plot([0, 1])
    save_small(plain, tmp_path / "plain.png")
    picture = (tmp_path / "plain.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < MOST_BYTES
    assert int.from_bytes(picture[16:20], "big") == 660  # six inches of the finest dots


@pytest.fixture
def folder(tmp_path):
    """Records of three problems: one that meets its goal, one that misses it with a run that failed, one not run."""

    def record(case, seed, errors, **more):
        curve = [[1.0, 1e-2], [30.0, 1e-5]]
        about = {"status": "finished", "stop_reason": "all <steps> done", "wall": 59.0, "curve": curve, "cpus": 2}
        about |= {"versions": {"jax": "0.10.2"}, "commit": "0123456789"}
        path = tmp_path / "results" / case / f"solve-120s-seed{seed}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        run = {"case": case, "method": "solve", "budget": 120, "seed": seed, "errors": errors}
        write_json(path, run | about | more)

    for seed, error in enumerate([1e-15, 2e-15, 3e-15]):
        record("rod_interface", seed, {"T1": error, "T2": 2 * error})
    record("burgers", 0, {"u": 2e-2})
    record("burgers", 1, {}, status="failed", stop_reason="did not end in time")
    record("cavity", 0, {"u": 1e-7, "v": 1e-7, "p": 1e-7})
    (tmp_path / "results" / "burgers" / "solve-120s-seed0.png").write_bytes(b"a picture")
    return tmp_path


def test_the_page_says_what_was_run_who_is_ahead_what_is_missed_and_what_was_not_run(folder):
    cases = {name: case_named(name) for name in ("burgers", "cavity", "kdv", "rod_interface")}
    path = write_page(cases, folder / "results", folder / "docs" / "benchmark.md")
    page = path.read_text()
    lines = page.splitlines()
    assert "3 of 4 cases have been run; 2 of these meet what is asked of them." in lines
    assert "Made on: 6 runs on 2 cores with jax 0.10.2. Commits: 0123456." in lines
    (burgers,) = [line for line in lines if line.startswith("| [burgers](#burgers)")]
    assert burgers.startswith("| [burgers](#burgers) | 120 s | 2 | 1 | inf | inf |")
    assert "| **no** |" in burgers
    (kdv,) = [line for line in lines if line.startswith("| [kdv](#kdv)")]
    assert "| **no** | 59 |" in burgers
    assert kdv.startswith("| [kdv](#kdv) | not run |")
    (rod,) = [line for line in lines if line.startswith("| [rod_interface](#rod_interface)")]
    assert rod.startswith("| [rod_interface](#rod_interface) | 120 s | 3 |  | 4.0e-15 | 6.0e-15 |")
    assert "## Misses" in lines
    assert "- seed 0: finished. all &lt;steps&gt; done" in lines
    assert "- seed 1: failed. did not end in time" in lines
    assert "![Losses of burgers](images/benchmark/burgers-120s-loss.png)" in lines
    sections = {part.split("\n")[0]: part for part in page.split("\n## ")[1:]}
    assert list(sections) == ["All problems", "Who is ahead", "Misses", *cases]
    assert "Not run." in sections["kdv"]
    assert "<math" in sections["kdv"]
    assert "| 120 s | 0 | 2.0e-02 | 59 | finished |" in sections["burgers"]
    assert "| 120 s | 1 |  | 59 | failed |" in sections["burgers"]
    assert "1.0e-07 (at the limit of the reference)" in sections["cavity"]
    assert "Burgers' equation: a sine that steepens into a front." in sections["burgers"]
    assert "![Solution, reference and error of burgers](images/benchmark/burgers.png)" in sections["burgers"]
    images = folder / "docs" / "images" / "benchmark"
    assert (images / "burgers.png").read_bytes() == b"a picture"
    assert sorted(path.name for path in images.iterdir()) == ["burgers-120s-loss.png", "burgers.png"]


def test_a_page_that_is_made_again_keeps_pictures_and_drops_those_of_misses_that_are_none(folder):
    page = folder / "docs" / "benchmark.md"
    write_page({"burgers": case_named("burgers")}, folder / "results", page)
    (folder / "results" / "burgers" / "solve-120s-seed0.png").unlink()
    for path in (folder / "results" / "burgers").glob("*.json"):
        path.unlink()
    write_page({"burgers": case_named("burgers")}, folder / "results", page)
    images = folder / "docs" / "images" / "benchmark"
    assert [path.name for path in images.iterdir()] == ["burgers.png"]
    assert "None of what has been run." in page.read_text()
    assert "](images/benchmark/burgers.png)" in page.read_text()
