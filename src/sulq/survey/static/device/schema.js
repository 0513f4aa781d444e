// The public facts about the columns, and a person's answers as whole numbers on their grids.

import { Numeral, Refusal, dumped } from "./json.js";
import { absolute, binaryExponent, bitLength, exactly, most, powerOfTwo, truncatedTo } from "./rational.js";
import { codeFacts, flagFacts, numberFacts } from "./facts.js";
import { digest } from "./sha256.js";

const REAL_BITS = 30;
const INTEGER_BITS = 36;
const OTHER = "(other)";
const KINDS = ["boolean", "category", "date", "integer", "real"];

// The days from 1970-01-01 to a day of the Gregorian calendar; years begin in March, so that leap days end them.
export function daysFromCivil(year, month, day) {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const ofEra = y - era * 400;
  const ofYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return era * 146097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719468;
}

export function civilFromDays(days) {
  const z = days + 719468;
  const era = Math.floor(z / 146097);
  const ofEra = z - era * 146097;
  const year = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36524) - Math.floor(ofEra / 146096)) / 365,
  );
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const shiftedMonth = Math.floor((5 * ofYear + 2) / 153);
  const day = ofYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: year + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

// A day written as 2024-01-31; null if it is none.
export function dayOf(text) {
  const met = typeof text === "string" ? /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) : null;
  if (met === null) return null;
  const [year, month, day] = met.slice(1).map(Number);
  const days = daysFromCivil(year, month, day);
  const back = civilFromDays(days);
  return year > 0 && back.year === year && back.month === month && back.day === day ? days : null;
}

// A category's value as text: 3, 3.0 and "3" are one value.
export function levelText(value) {
  if (value instanceof Numeral)
    return value.whole
      ? String(BigInt(value.text))
      : Number.isInteger(value.value)
        ? String(BigInt(value.value))
        : value.text;
  return typeof value === "boolean" || typeof value === "number" ? String(value) : value;
}

function column(name, form) {
  const type = form instanceof Map ? form.get("type") : null;
  if (!KINDS.includes(type))
    throw new Refusal("unknown", `column "${name}" is of a type that this device does not know`);
  const drops = form.get("drop_missing") === true;
  const missing = form.get("missing");
  if (type === "boolean") return { type, drops, missing: missing === true, facts: flagFacts() };
  if (type === "category") {
    const values = form.get("values");
    if (!Array.isArray(values) || !values.every((value) => typeof value === "string")) {
      throw new Refusal("form", `the values of column "${name}" are a list of texts`);
    }
    const levels = missing === null || missing === undefined ? [...values, OTHER] : values;
    const unknown = levels === values ? values.indexOf(missing) : values.length;
    return { type, drops: false, levels, values, missing: unknown, facts: codeFacts(levels.length, levels) };
  }
  if (type === "date") {
    const [first, last, none] = ["first", "last", "missing"].map((key) => dayOf(form.get(key)));
    if (first === null || last === null || none === null)
      throw new Refusal("form", `column "${name}" needs its first and last day`);
    const [low, high] = [0n, BigInt(last - first)];
    return {
      type,
      drops,
      first,
      last,
      bits: 0,
      low,
      high,
      missing: BigInt(none - first),
      facts: numberFacts(0, [low], [high], false),
    };
  }
  const [low, high, none] = ["low", "high", "missing"].map((key) => exactly(form.get(key)));
  const largest = most(...[low, high].map((bound) => (type === "integer" ? absolute(bound.n) : 0n)));
  const [lowest, highest] = [form.get("low").value, form.get("high").value];
  const bits =
    type === "integer"
      ? Math.min(0, INTEGER_BITS - bitLength(largest))
      : REAL_BITS - binaryExponent(Math.max(Math.abs(lowest), Math.abs(highest)));
  const ends = [low, high].map((bound) => truncatedTo(bound, bits));
  const known = numberFacts(bits, [ends[0]], [ends[1]], type === "real" || bits < 0);
  return {
    type,
    drops,
    bits,
    low: low.n,
    high: high.n,
    lowest,
    highest,
    missing: none,
    given: form.get("missing"),
    facts: known,
  };
}

// The columns by name, and the hash by which items name their schema.
export function schemaOf(form) {
  const columns = form instanceof Map ? form.get("columns") : null;
  if (!(columns instanceof Map) || columns.size === 0) throw new Refusal("form", "a schema has columns");
  if (form.has("unit"))
    throw new Refusal("unknown", "this device reports on one row: its schema has no unit of several");
  const read = new Map([...columns].map(([name, kind]) => [name, column(name, kind)]));
  return { columns: read, hash: digest(dumped(form)) };
}

export function columnOf(schema, name) {
  const kind = schema.columns.get(name);
  if (kind === undefined) throw new Refusal("unknown", `the survey has no column ${JSON.stringify(name)}`);
  return kind;
}

const isMissing = (answer) => answer === null || answer === undefined || Number.isNaN(answer);

function wholeSteps(kind, answer) {
  if (isMissing(answer)) return null;
  if (answer <= kind.low) return kind.low;
  if (answer >= kind.high) return kind.high;
  return typeof answer === "bigint" ? answer : BigInt(Math.trunc(answer));
}

// Whether a person has answered: as the schema's `known` says it.
export function isKnown(kind, answer) {
  if (kind.type === "boolean") return typeof answer === "boolean";
  if (kind.type === "date") return dayOf(answer) !== null;
  return typeof answer === "bigint" || (typeof answer === "number" && !Number.isNaN(answer));
}

// A person's answer as the kernel takes it: whole steps of the column's grid, or a code. No answer is an error.
export function encoded(kind, answer) {
  switch (kind.type) {
    case "boolean":
      return [typeof answer === "boolean" ? BigInt(answer) : BigInt(kind.missing)];
    case "category": {
      const place = isMissing(answer) ? -1 : kind.values.indexOf(levelText(answer));
      return place === -1 ? kind.missing : place;
    }
    case "date": {
      const day = dayOf(answer);
      return [day === null ? kind.missing : wholeSteps(kind, day - kind.first)];
    }
    case "integer": {
      const whole = wholeSteps(kind, answer) ?? kind.missing.n;
      return [kind.bits < 0 ? truncatedTo({ n: whole, d: 1n }, kind.bits) : whole];
    }
    default: {
      const number = isMissing(answer)
        ? kind.given.value
        : Math.min(Math.max(Number(answer), kind.lowest), kind.highest);
      return [BigInt(Math.trunc(number * powerOfTwo(kind.bits)))];
    }
  }
}
