"""The reference of the command line, made from the parsers that read it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass

PLACE = "<!-- commands -->"
"""What the commands stand in place of, on a page."""
LEFT_OUT = ("help", "version")


@dataclass(frozen=True)
class CommandHelp:
    """A command of the command line.

    Args:
        name: what is typed, as `sulq ledger show`.
        help: what it is for, in a line.
        parser: what reads its options.
    """

    name: str
    help: str
    parser: argparse.ArgumentParser

    @property
    def anchor(self) -> str:
        """What a link calls it."""
        return self.name.replace(" ", "-")


def commands(parser: argparse.ArgumentParser, help_line: str = "") -> Iterator[CommandHelp]:
    """A command and those below it.

    Args:
        parser: the parser of the command.
        help_line: what the command is for.

    >>> from sulq.cli import _parser
    >>> [command.name for command in commands(_parser())][:4]
    ['sulq', 'sulq demo', 'sulq schema', 'sulq schema draft']
    """
    yield CommandHelp(parser.prog, help_line, parser)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            lines = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, below in action.choices.items():
                yield from commands(below, lines.get(name, ""))


def commands_page(parser: argparse.ArgumentParser) -> str:
    """All commands in Markdown: a table of them, then each with its options.

    Options that several commands share are listed once.

    Args:
        parser: the parser of the whole command line.
    """
    listed = [each for each in commands(parser) if each.parser is not parser]
    leaves = [each for each in listed if not _branches(each.parser)]
    index = [f"| [`{each.name}`](#{each.anchor}) | {plain(each.help)} |" for each in leaves]
    shown: dict[str, CommandHelp] = {}
    sections = [_section(each, shown) for each in listed]
    return "\n".join(["| command | |", "|---|---|", *index, "", *sections])


def _branches(parser: argparse.ArgumentParser) -> bool:
    return any(isinstance(action, argparse._SubParsersAction) for action in parser._actions)


def _section(command: CommandHelp, shown: dict[str, CommandHelp]) -> str:
    parser = command.parser
    about = " ".join((parser.description or command.help).split())
    lines = [f"## {command.name}", "", plain(about), ""]
    if not _branches(parser):
        for group in parser._action_groups:
            lines += _group(command, group, shown)
    return "\n".join([*lines, *_epilog(parser.epilog or "")])


def _group(command: CommandHelp, group: argparse._ArgumentGroup, shown: dict[str, CommandHelp]) -> list[str]:
    rows = [
        f"| {_typed(action)} | {plain(_help(command.parser, action))} |"
        for action in group._group_actions
        if action.dest not in LEFT_OUT and action.help != argparse.SUPPRESS
    ]
    if not rows:
        return []
    table = "\n".join(rows)
    title = plain(group.title or "").replace("positional arguments", "what it takes")
    first = shown.setdefault(table, command)
    if first is not command and len(rows) > 2:
        return [f"**{title}**: as for [`{first.name}`](#{first.anchor}).", ""]
    return [f"**{title}**", "", "| option | what it says |", "|---|---|", table, ""]


def _typed(action: argparse.Action) -> str:
    """An option as one types it, without breaks inside of a name."""
    value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else None)
    if not action.option_strings:
        return f"`{value or action.dest}`"
    if action.nargs == 0:
        return ", ".join(f"`{name}`" for name in action.option_strings)
    value = value or action.dest.upper()
    return ", ".join(f"`{name} {value}`" for name in action.option_strings)


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    words = parser._get_formatter()._expand_help(action) if action.help else ""
    return f"{words} (needed)" if action.required and action.option_strings else words


def _epilog(text: str) -> list[str]:
    """The examples of a command as code, and other words as words."""
    if not text:
        return []
    examples = [line.strip() for line in re.sub(r"^examples?:", "", text).strip().splitlines()]
    if text.startswith("example"):
        return ["```", *examples, "```", ""]
    return [plain(" ".join(examples)), ""]


def plain(words: str) -> str:
    """Words that Markdown takes for words, but for code between backticks.

    >>> plain("a|b and ___, but `a_b`")
    'a\\\\|b and \\\\_\\\\_\\\\_, but `a_b`'
    """
    parts = re.split(r"(`[^`]*`)", words)
    return "".join(_code(part) if part.startswith("`") else _words(part) for part in parts)


def _code(part: str) -> str:
    return part.replace("|", "\\|")


def _words(part: str) -> str:
    return re.sub(r"([|*_\[\]])", r"\\\1", part.replace("<", "&lt;"))
