"""Command line: `phijax VERB ...`, also `python -m phijax`."""

from phijax.cli.app import main as main
