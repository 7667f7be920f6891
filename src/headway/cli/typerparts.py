"""The parts of Typer that it has and does not export.

Only this module names them, and `pyproject.toml` bounds Typer's version: whoever raises the bound looks here.
"""

from typer._click import Command as Command
from typer._click import Context as Context
from typer._click import HelpFormatter as HelpFormatter
from typer._click import Parameter as Parameter
from typer._click.exceptions import NoSuchOption as NoSuchOption
from typer._click.exceptions import UsageError as UsageError
from typer._click.shell_completion import CompletionItem as CompletionItem
from typer._click.shell_completion import _resolve_context as context_of
from typer._click.shell_completion import _resolve_incomplete as parameter_at
from typer._coercion import RuntimeParam as RuntimeParam
from typer.core import _TyperParameter as TyperParameter

__all__ = [
    "Command",
    "CompletionItem",
    "Context",
    "HelpFormatter",
    "NoSuchOption",
    "Parameter",
    "RuntimeParam",
    "TyperParameter",
    "UsageError",
    "context_of",
    "parameter_at",
]
