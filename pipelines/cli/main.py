"""The `spanwise` command: its verbs, errors and exit codes.

Results go to stdout, messages and progress to stderr. The exit code is 0 when all is done, 1 for a named
error in one line, 2 for wrong usage, 130 when interrupted. Defaults come from `SPANWISE_*` variables, then
from `spanwise.toml` in the current folder, then from that of the user. It has one table for each verb. A
server is named by the user alone: the current folder may be an unpacked archive.
"""

import os
import sys
from importlib import import_module
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

from typer import Abort, BadParameter, Exit, Option, Typer
from typer.core import TyperGroup
from typer.main import get_command

from spanwise.errors import SpanwiseError

from ...reader.generators.protocol import OLLAMA, OPENAI

ClickException: Any = next(c for c in BadParameter.__mro__ if c.__name__ == "ClickException")
CONFIG = Path("spanwise.toml")
SERVERS = ("base_url", "ray", "record")  # options that name where documents are sent or written
MODELS = ("reader", "generator", "model")  # options whose value may name a model of a server
OPTIONAL = ("torch", "transformers", "sentence_transformers", "sklearn")  # packages that training needs
INTERRUPTED = 130
HELP_ALL = "--help-all"
HELP = "Question answering over your own documents. Every answer is an exact quote with its location."

ASSISTANT = """{"mcpServers": {"spanwise": {
  "command": "spanwise",
  "args": ["mcp", "--index", "/home/me/notes"]
}}}"""

# The module and the name of the function or group of each verb, and an example for its help.
VERBS = {
    "index": ("index:index", "spanwise index notes"),
    "search": ("ask:search", "spanwise search 'opening hours' notes -k 5 --path 'town/**' --type md"),
    "ask": ("ask:ask", "spanwise ask 'when does the library open?' notes"),
    "summarize": ("ask:summarize", "spanwise summarize 'what changed for the mills?' notes"),
    "check": ("ask:check", "spanwise check answer.md notes"),
    "serve": ("serve:serve", "spanwise serve notes --port 8765"),
    "mcp": ("serve:mcp", f"spanwise mcp --index notes\n\nSettings of an assistant:\n\n\b\n{ASSISTANT}"),
    "status": ("status:status", "spanwise status --index notes --check"),
    "verify": ("status:verify", "spanwise verify --index notes"),
    "eval": ("evaluate:app", ""),
    "train": ("train:app", ""),
    "calibrate": ("train:calibrate", "spanwise calibrate --data choose --out runs/reader"),
}
# Options that only --help-all shows; those of a model also for the subcommands of eval.
OF_MODELS = "searches search_first strict fallback record replay max_requests idle_s total_s".split()
RARE = (
    "rerank rerank_model base_url dedupe meta document allow_host allow_origin token_file colbert "
    "lexical_only retry ray replicas require_all_shards no_wait"
).split()


def command_of(verb: str, everything: bool = True) -> Any:
    """The command of a verb, imported now; its help shows common options, or all, and no variables."""
    place, example = VERBS[verb]
    module, _, attribute = place.partition(":")
    group = getattr(import_module(f".{module}", __package__), attribute)
    if not isinstance(group, Typer):
        function = group
        group = Typer(add_completion=False, rich_markup_mode=None)
        group.command(verb, epilog=f"Example: {example}")(function)
    command = get_command(group)
    subcommands = getattr(command, "commands", {})
    rare = OF_MODELS if subcommands else [*RARE, *OF_MODELS]
    for entry in (command, *subcommands.values()):
        entry.short_help = (entry.help or "").partition("\n\n")[0]  # uncut
        entry.params.sort(key=lambda parameter: parameter.name in rare)
        for parameter in entry.params:
            parameter.show_envvar = False
            parameter.hidden = not everything and parameter.name in rare
        if any(parameter.hidden for parameter in entry.params):
            name = f"{verb} {entry.name}" if subcommands else verb
            entry.epilog += f"\n\nMore options: spanwise {name} --help-all"
    return command


class VerbGroup(TyperGroup):
    """The group whose commands are the verbs; each is imported when it is looked up."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = dict.fromkeys(VERBS)

    def get_params(self, ctx: Any) -> Any:
        """The options, without their variables."""
        parameters: Any = super().get_params(ctx)
        for parameter in parameters:
            parameter.show_envvar = False
        return parameters

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a verb; None for another name. ValueError for a setting that it has not got."""
        if cmd_name not in VERBS:
            return None
        command = command_of(cmd_name, everything=ctx.obj == HELP_ALL)
        known = {*getattr(command, "commands", ()), *(parameter.name for parameter in command.params)}
        if unknown := sorted((ctx.default_map or {}).get(cmd_name, {}).keys() - known):
            raise ValueError(f"{CONFIG}: [{cmd_name}] has no {unknown[0]}; see: spanwise {cmd_name} -h")
        return command


app = Typer(
    name="spanwise",
    cls=VerbGroup,
    help=HELP,
    epilog="Example: spanwise ask 'who built the weir bridge?' notes",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "SPANWISE",
        "max_content_width": 100,
    },
)


@app.callback(invoke_without_command=True, help=HELP)
def options(
    version: bool = Option(
        False, "--version", help="Print the version and exit.", is_eager=True, show_envvar=False
    ),
) -> None:
    """Options of the command itself."""
    if version:
        from spanwise.version import __version__

        print(f"spanwise {__version__}")
        raise Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 a named error, 2 wrong usage, 130 interrupted."""
    _open_streams()
    typed = sys.argv[1:] if arguments is None else arguments
    args = ["-h" if argument == HELP_ALL else argument for argument in typed]
    try:
        code = app(
            args=args,
            default_map=_settings(),
            prog_name="spanwise",
            standalone_mode=False,
            obj=HELP_ALL if args != typed else None,
        )
    except ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message(), file=sys.stderr)
            sys.exit(2)
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "spanwise"
        _fail(f"{error.format_message()} (see: {command} -h)", 2)
    except ValueError as error:  # before SpanwiseError: QuestionEmpty is both
        _fail(str(error), 2)
    except (KeyboardInterrupt, Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        _fail(f"{error}; install it with: pip install 'spanwise[train]'", 1)
    except (SpanwiseError, OSError) as error:  # such as a full disk, a missing permission
        _fail(str(error), 1)
    if code == INTERRUPTED:  # typer returns it for Ctrl-C
        _fail("interrupted. Committed work is kept; run the same command again to continue", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _open_streams() -> None:
    """What is written to a closed stream is lost; what a terminal cannot show becomes "?"."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, StringIO())
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _fail(message: str, code: int) -> None:
    print(f"spanwise: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def _settings() -> dict[str, Any]:
    """The tables of the user's `spanwise.toml`, one for each verb, under those of the current folder."""
    from platformdirs import user_config_path

    users = user_config_path("spanwise") / CONFIG
    tables = _tables(users)
    for verb, table in _tables(CONFIG).items():
        for name, value in table.items():
            if name in SERVERS or (name in MODELS and str(value).startswith((OPENAI, OLLAMA))):
                raise ValueError(
                    f"{CONFIG.resolve()} names a server ({name}) but may come from somebody else. Name it "
                    f"on the command line, in SPANWISE_{verb.upper()}_{name.upper()}, or in {users}"
                )
        tables[verb] = {**tables.get(verb, {}), **table}
    return tables


def _tables(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    import tomllib

    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.resolve()} is not valid TOML: {error}") from error
    if not all(isinstance(table, dict) for table in tables.values()):
        raise ValueError(f"{path.resolve()} has values outside of tables such as [ask]")
    return tables
