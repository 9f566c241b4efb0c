"""Network specifications as plain dictionaries."""

import json
import tomllib

import pytest
import tomli_w

from phijax.networks import (
    MLP,
    SIREN,
    FourierFeatures,
    ModifiedMLP,
    PirateNet,
    ResNet,
    Separable,
    network_from_config,
)

SPECS = [
    MLP(),
    MLP(width=(8, 4), activation="sin", dropout=0.1),
    ModifiedMLP(width=12, depth=2),
    FourierFeatures(MLP(width=5, depth=1), features=7, scale=2.5),
    ResNet(width=6, blocks=1, activation="sin"),
    PirateNet(width=6, blocks=2),
    SIREN(width=6, depth=2, w0=20.0),
    Separable(SIREN(width=6), rank=5),
    MLP(width=8, factorized=True),
    PirateNet(width=6, factorized=(1.0, 0.2)),
]


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_specification_goes_through_toml_and_json_unchanged(spec):
    config = spec.to_config()
    assert config["kind"] == type(spec).__name__
    assert network_from_config(tomllib.loads(tomli_w.dumps(config))) == spec
    assert network_from_config(json.loads(json.dumps(config))) == spec


def test_config_is_readable():
    assert SPECS[3].to_config() == {
        "kind": "FourierFeatures",
        "network": {"kind": "MLP", "width": 5, "depth": 1, "activation": "tanh", "dropout": 0.0},
        "features": 7,
        "scale": 2.5,
    }


def test_unknown_kind_or_option_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"network: kind='mlp' is not known. Did you mean 'MLP'\? Known: Fourier"):
        network_from_config({"kind": "mlp"})
    with pytest.raises(ValueError, match=r"network: kind='' is not known. Known: FourierFeatures, MLP, ModifiedMLP"):
        network_from_config({"width": 8})
    with pytest.raises(ValueError, match=r"MLP has no option 'widht'. Did you mean 'width'\?"):
        network_from_config({"kind": "MLP", "widht": 8})


def test_function_in_a_specification_is_refused_in_a_config():
    with pytest.raises(ValueError, match=r"FourierFeatures: network=<function .* can't be written in a configuration"):
        FourierFeatures(lambda key, in_size, out_size: None).to_config()
