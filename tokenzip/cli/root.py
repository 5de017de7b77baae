"""The root command, and what becomes of its end: exit codes, messages, and a log for what should never happen."""

from __future__ import annotations

import difflib
import errno
import os
import platform
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from tokenzip import __version__
from tokenzip.cli.asking import callees, callers, context, dependants, deps, diff, impact, map_, query, search, show, trace
from tokenzip.cli.commands import command_of
from tokenzip.cli.exporting import export, languages, serve
from tokenzip.cli.keeping import clean, doctor, gc, index, status
from tokenzip.cli.past import conflicts, log
from tokenzip.cli.setting_up import hooks, init
from tokenzip.cli.terminal import prepare_streams, say, tell
from tokenzip.cli.working import workflow
from tokenzip.errors import Cancelled, TokenzipError

DONE, FINDING, WRONG_USAGE, BUG, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes, as `docs/cli.md` promises them."""

MACHINE = frozenset({
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ENOMEM,
    errno.EIO, errno.EAGAIN, errno.ELOOP, errno.ENAMETOOLONG,
})  # fmt: skip
"""Errors that say something about the machine (full, forbidden, used up), and nothing about tokenzip."""

COMPLETION = "_TOKENZIP_COMPLETE"
"""Set by the shell when it asks for completions; click answers that."""

SECTIONS: tuple[tuple[str, tuple[click.Command, ...]], ...] = (
    ("Look around", (map_, search, show, query)),
    ("Follow the graph", (callers, callees, deps, dependants, impact, trace)),
    ("Compare", (diff, log, conflicts)),
    ("Plan", (context, workflow)),
    ("Set up and keep", (
        init, index, status, hooks, gc, clean, doctor,
    )),
    ("Share", (serve, export, languages)),
)  # fmt: skip
ALIASES = {"parse": "index", "structure": "map", "dependents": "dependants", "dependencies": "deps"}


class Root(click.Group):
    """The group of all commands, shown by topic, forgiving about names."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(command.name or "") for _, commands in SECTIONS for command in commands)
        for title, commands in SECTIONS:
            with formatter.section(title):
                rows = [((command.name or "").ljust(width), command.get_short_help_str(80)) for command in commands]
                formatter.write_dl(rows)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        return super().get_command(context, ALIASES.get(name, name))

    def resolve_command(self, context: click.Context, words: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if words and self.get_command(context, words[0]) is None and not words[0].startswith("-"):
            near = difflib.get_close_matches(words[0], self.commands, n=3, cutoff=0.5)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise click.UsageError(f"There is no command {words[0]!r}.{hint}", context)
        return super().resolve_command(context, words)


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", message="tokenzip %(version)s")
def root() -> None:
    """A map of a git repository: modules, files, symbols, and who uses whom, at any commit.

    Nothing has to be set up: every question indexes what it needs, and remembers it.
    """


for _, _commands in SECTIONS:
    for _command in _commands:
        root.add_command(_command)


def main() -> None:
    """Run the command line of this process and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(words: Sequence[str]) -> int:
    """Run one command line. Returns the exit code; raises nothing.

    Not by `click.Command.main`, which takes a reader that leaves early for a failure.
    """
    prepare_streams()
    try:
        code = _outcome(words)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        return DONE
    except OSError as error:
        _forget_output()
        tell(f"the output cannot be written: {error.strerror}")
        return WRONG_USAGE
    return code


def _outcome(words: Sequence[str]) -> int:
    try:
        if COMPLETION in os.environ:
            root.main(args=list(words), prog_name="tokenzip")
        with root.make_context("tokenzip", list(words)) as context:
            result = root.invoke(context)
        return result if isinstance(result, int) else DONE
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return WRONG_USAGE
    except (click.Abort, KeyboardInterrupt, Cancelled):
        say("tokenzip: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except TokenzipError as error:
        commands = [command_of(tool, arguments) for tool, arguments in error.calls]
        tell(error.message, error.hint, error.candidates, commands)
        return WRONG_USAGE
    except OSError as error:
        if error.errno not in MACHINE:
            return _bug(error, words)
        tell(f"{error.strerror}{f': {error.filename}' if error.filename else ''}")
        return WRONG_USAGE
    except Exception as error:
        return _bug(error, words)


def _forget_output() -> None:
    """The reader of standard output is gone: let what is left go nowhere, without a word."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bug(error: Exception, words: Sequence[str]) -> int:
    log = _write_log(error, words)
    say(f"tokenzip: this is a bug: {type(error).__name__}: {error}")
    if log is not None:
        say(f"The details are in {log}; please report them.")
    return BUG


def _write_log(error: Exception, words: Sequence[str]) -> Path | None:
    """The log file with everything that helps to find the cause; None where it cannot be written."""
    from tokenzip import config

    details = "".join(traceback.format_exception(error))
    text = f"tokenzip {__version__}, Python {platform.python_version()}, {platform.platform()}\n{words!r}\n\n{details}"
    folder = config.cache_home() / "logs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"bug-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError:
        say(text)
        return None
    return path
