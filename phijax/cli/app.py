"""The verbs of the command line. Each is a thin shell: its work is in the module beside it, imported when it is called."""

import functools
import signal
import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Annotated, Any

import typer

INTERRUPTED = 130  # and above, the exit codes of signals
_debug: ContextVar[bool] = ContextVar("debug", default=False)

app = typer.Typer(
    name="phijax",
    help="Solve partial differential equations with physics-informed neural networks.",
    epilog="With --debug, an error shows its traceback. Exit codes: 0 ok, 1 internal fault, 2 wrong usage or declaration, "
    "3 diverged, 130/143 interrupted after saving.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)

bench = typer.Typer(help="Time a training step.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(bench, name="bench")

Target = Annotated[str, typer.Argument(metavar="NAME|FILE.py", help="A built-in problem, or a file that makes one.")]
Assignments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[key=value ...]", help="Constants of the problem; run settings such as points.pde=4096."),
]
RunFolder = Annotated[str, typer.Argument(metavar="RUN_DIR", help="The folder of a run.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON as the last line of standard output.")]
MaxSeconds = Annotated[float | None, typer.Option(help="Bound on compiling and training together, in seconds.")]
Devices = Annotated[int | None, typer.Option(help="Devices to share the points out among; one unless given.")]
Coordinator = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="Where the processes of a shared run meet, on the first one's host."),
]
NumProcesses = Annotated[int | None, typer.Option(help="How many processes share the run.")]
ProcessId = Annotated[int | None, typer.Option(help="Which of them this is, from 0.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Keep no compiled programs (also PHIJAX_NO_CACHE=1).")]


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and gives its exit code. arguments: those of the process where None."""
    if arguments is None:
        from phijax.cli.process import end_at_second_signal, ignore_late_reads

        ignore_late_reads()
        end_at_second_signal()
    code = _code(list(sys.argv[1:] if arguments is None else arguments))
    if arguments is None and code >= INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process ends now; a signal in its last moments crashes JAX
    return code


def _code(given: list[str]) -> int:
    token = _debug.set("--debug" in given)
    try:
        app([argument for argument in given if argument != "--debug"], prog_name="phijax")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1 if stop.code else 0
    finally:
        _debug.reset(token)
    return 0


def _verb(function: Callable[..., int]) -> Callable[..., None]:
    """A command whose function gives an exit code, and whose errors are told in one message."""

    @functools.wraps(function)
    def told(*args: Any, **kwargs: Any) -> None:
        from phijax.cli.errors import Terminated, exit_code_of
        from phijax.cli.process import leave_a_shared_run, told_plainly

        try:
            with told_plainly():
                code = function(*args, **kwargs)
        except (Exception, KeyboardInterrupt, Terminated) as error:
            code = exit_code_of(error, _debug.get())
            leave_a_shared_run(code)
        raise typer.Exit(int(code))

    return told


def _print_version(asked: bool) -> None:
    if asked:
        from phijax import __version__

        print(f"phijax {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


@app.command("list")
@_verb
def list_problems(as_json: AsJson = False) -> int:
    """Built-in problems: equation, reference, target."""
    from phijax.cli.listing import list_verb

    return list_verb(as_json)


@app.command()
@_verb
def show(
    target: Target,
    assignments: Assignments = None,
    plot: Annotated[str | None, typer.Option(help="Draw the domain and its points to this file instead.")] = None,
) -> int:
    """The problem as mathematics, its samplers, its derivatives and its cost; or a picture of its domain."""
    from phijax.cli.showing import picture_verb, show_verb

    return show_verb(target, assignments or []) if plot is None else picture_verb(target, assignments or [], plot)


@app.command()
@_verb
def check(
    target: Target,
    assignments: Assignments = None,
    benchmark: Annotated[
        bool,
        typer.Option("--benchmark", help="Also hold it to the rules of the benchmark: target, reference, residuals."),
    ] = False,
) -> int:
    """Check a declaration; nothing is trained."""
    from phijax.cli.checking import check_verb

    return check_verb(target, assignments or [], benchmark)


@app.command()
@_verb
def run(
    target: Target,
    assignments: Assignments = None,
    seed: Annotated[int, typer.Option(help="A whole number from 0 to 2^32 - 1.")] = 0,
    seeds: Annotated[int | None, typer.Option(help="So many seeds at once, counted from --seed.")] = None,
    precision: Annotated[str | None, typer.Option(help="float32 or float64; chosen by rule unless given.")] = None,
    max_seconds: MaxSeconds = None,
    run_dir: Annotated[str | None, typer.Option(help="Folder of the run; runs/NAME-DATE-TIME unless given.")] = None,
    as_json: AsJson = False,
    no_cache: NoCache = False,
    devices: Devices = None,
    coordinator: Coordinator = None,
    num_processes: NumProcesses = None,
    process_id: ProcessId = None,
) -> int:
    """Solve a problem."""
    from phijax.cli.placing import Place
    from phijax.cli.running import run_verb

    return run_verb(
        target,
        assignments or [],
        seed=seed,
        seeds=seeds,
        precision=precision,
        max_seconds=max_seconds,
        run_dir=run_dir,
        as_json=as_json,
        cache=not no_cache,
        place=Place(devices, coordinator, num_processes, process_id),
    )


@app.command()
@_verb
def resume(
    run_dir: RunFolder,
    max_seconds: MaxSeconds = None,
    as_json: AsJson = False,
    no_cache: NoCache = False,
    devices: Devices = None,
    coordinator: Coordinator = None,
    num_processes: NumProcesses = None,
    process_id: ProcessId = None,
) -> int:
    """Go on with a run from its last whole checkpoint, in place, on as many devices as before or as are given."""
    from phijax.cli.placing import Place
    from phijax.cli.running import resume_verb

    place = Place(devices, coordinator, num_processes, process_id)
    return resume_verb(run_dir, max_seconds=max_seconds, as_json=as_json, cache=not no_cache, place=place)


@app.command(context_settings={"ignore_unknown_options": True})
@_verb
def launch(
    count: Annotated[int, typer.Option("-n", help="How many processes.")],
    command: Annotated[
        list[str], typer.Argument(metavar="-- VERB ...", help="run, resume or doctor, as written alone.")
    ],
) -> int:
    """Share one run among several processes on this machine."""
    from phijax.cli.launching import launch_verb

    return launch_verb(count, command)


@app.command()
@_verb
def predict(
    run_dir: RunFolder,
    points: Annotated[str, typer.Argument(metavar="POINTS.csv|npz", help="A column for each coordinate, by name.")],
    residuals: Annotated[bool, typer.Option("--residuals", help="Also the residuals of the equations.")] = False,
    out: Annotated[str | None, typer.Option(help="File to write; beside POINTS unless given.")] = None,
) -> int:
    """Values of the fields at given points, from a run's folder alone."""
    from phijax.cli.predicting import predict_verb

    return predict_verb(run_dir, points, residuals=residuals, out=out)


@app.command()
@_verb
def plot(run_dir: RunFolder) -> int:
    """Draw the solution of a run and its training, and write its report."""
    from phijax.cli.running import plot_verb

    return plot_verb(run_dir)


@app.command()
@_verb
def report(
    run_dir: RunFolder,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="File to write; RUN_DIR/report.html unless given.")
    ] = None,
) -> int:
    """Write a run's report as one HTML file, figures within."""
    from phijax.cli.running import report_verb

    return report_verb(run_dir, out)


@app.command()
@_verb
def watch(run_dir: RunFolder) -> int:
    """Follow a run that goes on elsewhere, until it ends."""
    from phijax.cli.watching import watch_verb

    return watch_verb(run_dir)


@app.command()
@_verb
def export(
    run_dir: RunFolder,
    kind: Annotated[str, typer.Option("--format", help="npz, csv, vtk, netcdf, jax (StableHLO) or weights.")] = "npz",
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="File to write; in RUN_DIR/exports unless given.")
    ] = None,
    points: Annotated[int | None, typer.Option(help="Points along each axis.")] = None,
    times: Annotated[int | None, typer.Option(help="Files of a VTK series.")] = None,
) -> int:
    """Write a run's solution for other programs."""
    from phijax.cli.exporting import export_verb

    return export_verb(run_dir, kind, out=out, points=points, times=times)


@app.command()
@_verb
def doctor(
    as_json: AsJson = False,
    devices: Devices = None,
    coordinator: Coordinator = None,
    num_processes: NumProcesses = None,
    process_id: ProcessId = None,
) -> int:
    """Versions, devices and how they share a run, precision, determinism flags, cache."""
    from phijax.cli.doctor import doctor_verb
    from phijax.cli.placing import Place

    return doctor_verb(as_json, Place(devices, coordinator, num_processes, process_id))


@bench.command("speed")
@_verb
def bench_speed(
    tasks: Annotated[list[str] | None, typer.Argument(metavar="[TASK ...]", help="All of them unless given.")] = None,
    steps: Annotated[int | None, typer.Option(help="Steps to time; a number that suits the task unless given.")] = None,
    no_cache: NoCache = False,
) -> int:
    """Time a training step of each task, in a process of its own; one line of JSON a task."""
    from phijax.cli.benching import speed_verb

    return speed_verb(tasks or [], steps=steps, cache=not no_cache)


@bench.command("ensemble")
@_verb
def bench_ensemble(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task of `bench speed`.")] = "T1c",
    seeds: Annotated[int, typer.Option(help="How many seeds, from 0.")] = 8,
    steps: Annotated[int | None, typer.Option(help="Steps to time; a number that suits the task unless given.")] = None,
    cache: Annotated[
        bool, typer.Option("--cache", help="Keep compiled programs, and use those that are kept.")
    ] = False,
) -> int:
    """Time several seeds in one ensemble and one after the other; one line of JSON."""
    from phijax.cli.benching import ensemble_verb

    return ensemble_verb(task, seeds=seeds, steps=steps, cache=cache)


@bench.command("scaling")
@_verb
def bench_scaling(
    tasks: Annotated[list[str] | None, typer.Argument(metavar="[TASK ...]", help="Six of them unless given.")] = None,
    no_cache: NoCache = False,
) -> int:
    """Count what a step computes and exchanges, and what efficiency is to be expected; one line of JSON a task."""
    from phijax.cli.benching import scaling_verb

    return scaling_verb(tasks or [], cache=not no_cache)


@bench.command("least-squares")
@_verb
def bench_least_squares(
    rows: Annotated[int, typer.Option(help="Residuals of a step.")] = 2000,
    no_cache: NoCache = False,
) -> int:
    """Time a Gauss-Newton step beside its Gram product and factorization alone; one line of JSON."""
    from phijax.cli.benching import least_squares_verb

    return least_squares_verb(rows=rows, cache=not no_cache)


@bench.command("accuracy")
@_verb
def bench_accuracy(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME ...]", help="All problems unless given.")] = None,
    goals: Annotated[
        bool, typer.Option("--goals", help="The cases with goals for one minute and for ten, in these times.")
    ] = False,
    budget: Annotated[
        list[int] | None, typer.Option(help="Seconds of a whole run; may be given twice. 120 unless given.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="How many seeds, from 0.")] = 3,
    methods: Annotated[str, typer.Option(help="Names with commas between; solve is the default settings.")] = "solve",
    results: Annotated[str, typer.Option(help="Folder of the records; what it has is not run again.")] = "docs/results",
    page: Annotated[str | None, typer.Option(help="Run nothing; write what the records say to this page.")] = None,
    as_json: AsJson = False,
    only_table: Annotated[bool, typer.Option("--table", help="Run nothing; print what the records say.")] = False,
) -> int:
    """The error that is reached in a time, beside target, best published and classical solver; a record for each run."""
    from phijax.cli.bench_accuracy import accuracy_verb

    return accuracy_verb(
        names or [],
        goals=goals,
        budgets=budget or [],
        seeds=seeds,
        methods=[name.strip() for name in methods.split(",")],
        results=results,
        page=page,
        as_json=as_json,
        only_table=only_table,
    )


@bench.command("one-accuracy-run", hidden=True)
@_verb
def bench_one(case: str, method: str, budget: int, seed: int, picture: str | None = None) -> int:
    """One run of `accuracy`, in this process."""
    from phijax.cli.bench_accuracy import one_verb

    return one_verb(case, method, budget, seed, picture)
