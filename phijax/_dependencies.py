"""Imports what everything here builds on, before anything else.

Its objects stay, and looking for garbage among them again and again takes a fifth of the time of an import.
"""

import gc

_was_enabled = gc.isenabled()
gc.disable()
try:
    import equinox  # noqa: F401
    import jax  # noqa: F401
    import optax  # noqa: F401
    import sympy  # noqa: F401
finally:
    if _was_enabled:
        gc.enable()
