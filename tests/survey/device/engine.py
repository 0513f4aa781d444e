"""The device's JavaScript in an engine: its modules as one, with functions that take and return texts."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import sulq.survey

quickjs = pytest.importorskip("quickjs", reason="pip install quickjs-ng")

DEVICE = Path(sulq.survey.__file__).parent / "static" / "device"
"""Where the modules are."""
IMPORTED = re.compile(r'^import (?:\{[^}]*\} from )?"\./([a-z_0-9]+\.js)";$', re.MULTILINE)

CALLS = """
function source(hex) {
  let at = 0;
  const bytes = (count) => {
    if (hex.length < 2 * (at + count)) throw new Error("no more bytes");
    const drawn = new Uint8Array(count);
    for (let i = 0; i < count; i += 1) drawn[i] = parseInt(hex.substr(2 * (at + i), 2), 16);
    at += count;
    return drawn;
  };
  bytes.taken = () => at;
  return bytes;
}
function answersOf(plain) {
  const read = (cell) => (cell?.number !== undefined ? Number(cell.number) : cell?.whole !== undefined ? BigInt(cell.whole) : cell);
  return new Map(Object.entries(plain).map(([name, cell]) => [name, read(cell)]));
}
const tried = (work) => (...given) => {
  try {
    return JSON.stringify({ result: work(...given) });
  } catch (error) {
    return JSON.stringify({ code: error.code ?? "error", refused: `${error.name}: ${error.message} ${error.code ? "" : error.stack}` });
  }
};
const schemas = new Map();
function schemaText(text) {
  if (!schemas.has(text)) schemas.set(text, schemaOf(parseJson(text)));
  return schemas.get(text);
}
globalThis.facts_of = tried((schema, form) => {
  const known = factsOf(expressionOf(parseJson(form)), schemaText(schema));
  if (known.code) return { size: known.size, levels: known.levels };
  const texts = (numbers) => numbers.map(String);
  const { bits, low, high, norm1, square, rounded } = known;
  return { bits, low: texts(low), high: texts(high), norm1: String(norm1), square: String(square), rounded };
});
globalThis.values_of = tried((schema, form, rows) => {
  const node = expressionOf(parseJson(form));
  factsOf(node, schemaText(schema));
  return JSON.parse(rows).map((answers) => {
    const value = new Row(schemaText(schema), answersOf(answers)).value(node);
    return Array.isArray(value) ? value.map(String) : String(value);
  });
});
globalThis.item_key = tried((schema, form) => itemOf(parseJson(form), schemaText(schema)).key);
globalThis.report_on = tried((schema, form, answers, hex) => {
  const bytes = source(hex);
  const report = reportOn(itemOf(parseJson(form), schemaText(schema)), schemaText(schema), answersOf(JSON.parse(answers)), bytes);
  return { report, taken: bytes.taken() };
});
globalThis.draws_of = tried((form, value, hex, count) => {
  const [randomizer, bytes, drawn] = [randomizerOf(parseJson(form)), source(hex), []];
  const given = JSON.parse(value);
  for (let i = 0; i < count; i += 1) drawn.push(randomizer.draw(given, bytes));
  return { drawn, taken: bytes.taken() };
});
// Bytes for frequencies: splitmix64 is fast in an engine and good enough to measure a law by.
function quickBytes(seed) {
  let [a, b, c, d] = [seed | 0, 0x9e3779b9 | 0, 0x243f6a88 | 0, 1];
  let [word, left] = [0, 0];
  const next = () => {
    if (left === 0) {
      const t = (((a + b) | 0) + d) | 0;
      d = (d + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (c << 21) | (c >>> 11);
      c = (c + t) | 0;
      [word, left] = [t, 4];
    }
    left -= 1;
    const byte = word & 255;
    word >>>= 8;
    return byte;
  };
  for (let i = 0; i < 64; i += 1) next();
  return (count) => {
    const drawn = new Uint8Array(count);
    for (let i = 0; i < count; i += 1) drawn[i] = next();
    return drawn;
  };
}
globalThis.counts_of = tried((form, value, seed, count) => {
  const [randomizer, bytes, counts] = [randomizerOf(parseJson(form)), quickBytes(seed), {}];
  const given = JSON.parse(value);
  for (let i = 0; i < count; i += 1) {
    const report = String(randomizer.draw(given, bytes));
    counts[report] = (counts[report] ?? 0) + 1;
  }
  return counts;
});
globalThis.moments_of = tried((form, value, seed, count) => {
  const [randomizer, bytes] = [randomizerOf(parseJson(form)), quickBytes(seed)];
  const given = JSON.parse(value);
  const [sums, squares] = [given.map(() => 0), given.map(() => 0)];
  for (let i = 0; i < count; i += 1) {
    randomizer.draw(given, bytes).forEach((x, j) => {
      sums[j] += x;
      squares[j] += x * x;
    });
  }
  return { sums, squares };
});
globalThis.keeps = tried((form, epsilon) => keepsPromise(randomizerOf(parseJson(form)), positiveFraction(epsilon, "epsilon")));
globalThis.known_names = tried(() => ({ nodes: [...NODES.keys()].sort(), randomizers: [...RANDOMIZERS.keys()].sort() }));
const storages = new Map();
const devices = new Map();
globalThis.open_device = tried((name, storage, survey, hex) => {
  if (!storages.has(storage)) storages.set(storage, new MemoryStorage());
  devices.set(name, new Device(survey, storages.get(storage), source(hex)));
  return true;
});
globalThis.settled = "";
const waiting = (work) => (...given) => {
  globalThis.settled = "";
  work(...given).then(
    (result) => { globalThis.settled = JSON.stringify({ result: result === undefined ? null : result }); },
    (error) => { globalThis.settled = JSON.stringify({ code: error.code ?? "error", refused: `${error.message}` }); },
  );
};
globalThis.draw_round = waiting(async (name, round, answers) => {
  const device = devices.get(name);
  const drawn = await device.draw(device.verified(round), answersOf(JSON.parse(answers)));
  return drawn.map(({ report, odds }) => ({ report, odds }));
});
globalThis.sending_of = waiting((name, number, invitation) => devices.get(name).sending(number, invitation));
globalThis.record_of = waiting((name) => devices.get(name).record());
globalThis.elsewhere_of = waiting(async (name) => fractionText(await devices.get(name).spentElsewhere()));
globalThis.mark_round = waiting((name, number, state) => devices.get(name).mark(number, state));
globalThis.hashed = tried((text) => digest(text));
globalThis.rewritten = tried((text) => [canonical(parseJson(text)), dumped(parseJson(text))]);
"""


def written(row: Mapping[str, Any]) -> dict[str, Any]:
    """A person's answers as the engine reads them: whole numbers of any size, and floats that JSON has not."""
    return {name: _cell(cell) for name, cell in row.items()}


def _cell(cell: Any) -> Any:
    if isinstance(cell, datetime.date):
        return cell.isoformat()
    if isinstance(cell, float):
        return {"number": "NaN" if cell != cell else str(cell).replace("inf", "Infinity")}
    return {"whole": str(cell)} if type(cell) is int else cell


def in_order(names: list[str]) -> list[str]:
    """The modules, each after those that it imports."""
    ordered: list[str] = []

    def visit(name: str) -> None:
        if name not in ordered:
            for imported in IMPORTED.findall((DEVICE / name).read_text(encoding="utf-8")):
                visit(imported)
            ordered.append(name)

    for name in names:
        visit(name)
    return ordered


class Engine:
    """An engine that has run all modules.

    Args:
        changes: texts in the modules that are replaced by others, for mutants; each must be there.
    """

    def __init__(self, changes: Mapping[str, str] | None = None) -> None:
        code = "\n".join(
            (DEVICE / name).read_text(encoding="utf-8") for name in in_order(["device.js", "storage.js"])
        )
        for before, after in (changes or {}).items():
            assert code.count(before) == 1, f"{code.count(before)} times in the modules: {before}"
            code = code.replace(before, after)
        code = re.sub(r"^export ", "", IMPORTED.sub("", code), flags=re.MULTILINE)
        self.context = quickjs.Context()
        self.context.set_max_stack_size(4 * 2**20)
        self.context.eval(f'"use strict";\n(() => {{\n{code}\n{CALLS}\n}})();')

    def wait(self, name: str, *given: Any) -> Any:
        """What a call that takes its time ends in."""
        self.context.get(name)(*given)
        while not self.context.get("settled") and self.context.execute_pending_job():
            pass
        return _result(json.loads(self.context.get("settled")))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        function = self.context.get(name)
        return lambda *given: _result(json.loads(function(*given)))


class RefusedError(Exception):
    """What the device refused."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


def _result(told: dict[str, Any]) -> Any:
    if "refused" in told:
        raise RefusedError(told["code"], told["refused"])
    return told["result"]
