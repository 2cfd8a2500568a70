"""The `spanwise` command: its verbs, and what errors look like.

Results go to stdout, progress and talk to stderr. Exit 0: done; 1: a named error, in one line; 2: wrong
usage. Defaults come from `SPANWISE_*` variables, then from `spanwise.toml` in the current folder.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import typer

from spanwise.errors import SpanwiseError

from .verbs import VerbGroup

ClickException: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
CONFIG = Path("spanwise.toml")
INTERRUPTED = 130

app = typer.Typer(
    name="spanwise",
    cls=VerbGroup,
    help="Answers questions from a folder of documents with the exact words, or says they are not there.",
    epilog="Example: spanwise ask 'who founded the mill?' notes",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "SPANWISE"},
)


@app.callback(invoke_without_command=True)
def options(
    version: bool = typer.Option(False, "--version", help="Print the version and stop.", is_eager=True),
) -> None:
    """Answers questions from a folder of documents with the exact words, or says they are not there."""
    if version:
        from importlib.metadata import version as version_of

        print(f"spanwise {version_of('spanwise')}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits: 0 done, 1 a named error, 2 wrong usage, 130 interrupted."""
    try:
        code = app(args=arguments, prog_name="spanwise", standalone_mode=False, default_map=_configured())
    except ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message(), file=sys.stderr)
            sys.exit(2)
        _fail(f"{error.format_message()} (see: {_command_path(error)} -h)", 2)
    except SpanwiseError as error:
        _fail(str(error), 1)
    except ValueError as error:
        _fail(str(error), 2)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # a disk, a permission: no mistake of this program
        _fail(str(error), 1)
    if code == INTERRUPTED:  # which typer, too, makes of Ctrl-C
        _fail("interrupted; what was committed is kept, and the same command goes on from there", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> None:
    print(f"spanwise: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def _command_path(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return context.command_path if context is not None else "spanwise"


def _configured() -> dict[str, Any]:
    """The tables of `spanwise.toml`, one a verb: `[ask]`, `[search]`, …"""
    if not CONFIG.is_file():
        return {}
    import tomllib

    try:
        return tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{CONFIG.resolve()} is not valid TOML: {error}") from error
