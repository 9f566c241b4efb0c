"""S1, R6: points shared out among devices are the same, and losses those of one device to rounding."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

import phijax as phi
from phijax.bench.scaling import Counts, Machine, _bytes_of

SCRIPT = Path(__file__).with_name("devices_cases.py")
ADAM = ("float32", "GradNorm", "NTK", "SoftAdapt", "ReLoBRaLo")
OTHERS = ("batch float32", "batch float64", "resumed", "declared", "counted")
TERMS = 2  # of the loss


def told(folder, *cases, devices=2):
    """What `devices_cases.py` says of each case, in a process of so many devices."""
    environment = os.environ | {"JAX_NUM_CPU_DEVICES": str(devices), "PYTHONPATH": str(Path(phi.__file__).parents[1])}
    command = [sys.executable, "-W", "ignore", str(SCRIPT), str(folder), *cases]
    ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    lines = map(json.loads, ended.stdout.splitlines())
    return {line.pop("case"): line for line in lines}


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return told(tmp_path_factory.mktemp("run"), *OTHERS, *ADAM, "GaussNewton")


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_batch_has_the_same_bits_on_one_device_and_on_two(two, precision):
    assert two[f"batch {precision}"] == {"points": True}


@pytest.mark.parametrize("case", ADAM)
def test_losses_of_a_hundred_steps_are_those_of_one_device(two, case):
    found = two[case]
    assert found["steps"] == [100, 100]
    assert found["points"]
    assert found["losses"] < (1e-6 if case == "float32" else 1e-12)


def test_gauss_newton_steps_are_those_of_one_device(two):
    """Relative to the loss at the start: the almost undamped steps make more of how a sum is rounded."""
    found = two["GaussNewton"]
    assert found["points"]
    assert found["steps"][0] == found["steps"][1]
    assert found["of the largest"] < 1e-12


def test_a_declared_problem_and_its_values_are_those_of_one_device(two):
    assert two["declared"]["losses"] < 1e-12
    assert two["declared"]["values"] < 1e-12


def test_a_run_goes_on_with_other_numbers_of_devices(two):
    assert two["resumed"]["step"] == 100
    assert two["resumed"]["losses"] < 1e-12


def test_a_step_exchanges_gradient_and_losses_once(two):
    found = two["counted"]
    assert found["exchanges"] == 1
    assert found["bytes"] == 4 * (found["parameters"] + TERMS)


@pytest.mark.slow
@pytest.mark.parametrize("devices", [2, 4])
def test_other_optimizers_take_the_steps_of_one_device(tmp_path, devices):
    cases = ("LevenbergMarquardt", "SPRING", "SSBroyden", "LBFGS")
    for case, found in told(tmp_path, *cases, devices=devices).items():
        assert found["points"], case
        assert found["of the largest"] < 1e-6, case


@pytest.mark.slow
def test_four_devices_do_what_two_do(tmp_path):
    for case, found in told(tmp_path, *OTHERS[:4], *ADAM, devices=4).items():
        assert found.get("points", True), case
        assert found.get("losses", 0.0) < (1e-6 if case == "float32" else 1e-12), case


def test_more_devices_than_there_are_is_answered_with_the_cure():
    there = len(jax.devices())
    trainer = phi.Trainer(1, devices=there + 1)
    with pytest.raises(ValueError, match=f"JAX has {there} here; on a CPU set JAX_NUM_CPU_DEVICES={there + 1}"):
        trainer.predict(lambda x: x, [1.0])


@pytest.mark.parametrize("devices", [0, 1.5, True])
def test_a_number_of_devices_is_a_whole_number(devices):
    with pytest.raises(ValueError, match="whole number"):
        phi.Trainer(1, devices=devices)


def test_bytes_of_an_exchange_are_those_of_its_arrays():
    assert _bytes_of("(f32[1]{0}, f32[6,1]{1,0}, f64[], /*index=5*/s32[3]{0})") == 4 + 24 + 8 + 12


def test_efficiency_is_what_computing_leaves_of_a_step():
    counts = Counts(points=1, parameters=1, operations=8e9, exchanges=1, bytes=7 * 10**6)
    # 1 s on one device; on eight 0.125 s, 2 x 7/8 x 7 MB at 98 MB/s, and two ways of three hops of a second / 48.
    machine = Machine(devices=8, flops=8e9, bandwidth=98e6, latency=1 / 48, overhead=0.0)
    assert machine.step_seconds(counts) == pytest.approx(0.125 + 0.125 + 0.125)
    assert machine.efficiency(counts) == pytest.approx(1 / 3)
    assert machine.efficiency(counts, batches=8) == pytest.approx(1 / 1.25)
