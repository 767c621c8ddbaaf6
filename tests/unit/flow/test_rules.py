"""Every rewriting rule does what its before/after pairs say."""

import importlib
import pkgutil

import pytest

from conceptpubsub.converters import Converters
from conceptpubsub.filters import Filter
from conceptpubsub.flow import rules
from conceptpubsub.flow.functions import function
from conceptpubsub.flow.schema import schema
from conceptpubsub.flow.steps import Prepare, Setting, read, show

SCHEMA = schema({"x": "real", "y": "real", "t": "text"}, "test")
FUNCTIONS = {
    "UP": function("UP", {"a": "A", "b": "B", "bb": "B"}),
    "OP": function("OP", lambda text: text.upper()),
}


def _cases():
    for module in pkgutil.iter_modules(rules.__path__):
        loaded = importlib.import_module(f"conceptpubsub.flow.rules.{module.name}")
        for number, (before, after) in enumerate(loaded.EXAMPLES):
            yield pytest.param(getattr(loaded, module.name), before, after, id=f"{module.name}-{number}")


def _read(texts):
    """Read steps in a row: what a step reads is what the one before gives."""
    setting = Setting(SCHEMA, Converters.default())
    steps = []
    for text in texts:
        step = read(text, setting, FUNCTIONS)
        steps.append(step)
        if isinstance(step, Prepare):
            setting = Setting(setting.extended(step, text), setting.converters)
        elif not isinstance(step, Filter):
            made = Setting(setting.schema, setting.converters).extended(Prepare(step.outputs, FUNCTIONS), text)
            setting = Setting({name: made[name] for name in step.outputs}, setting.converters)
    return tuple(steps)


@pytest.mark.parametrize(("rule", "before", "after"), list(_cases()))
def test_examples(rule, before, after):
    made = rule(*_read(before), Setting(SCHEMA, Converters.default()))
    assert (None if made is None else tuple(show(step) for step in made)) == after
