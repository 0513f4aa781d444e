"""How properties are tried, for all tests. No example has a deadline: the machine may be busy."""

from hypothesis import settings

from tests.effort import EFFORT, examples

settings.register_profile(EFFORT, max_examples=examples(100), deadline=None)
settings.load_profile(EFFORT)
