// JSON read without losing how a number was written, so that texts and hashes equal those of Python.

// What a device does not do, and why: `code` is for programs, the message is for people.
export class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

// A number as it was written. Python tells 1 from 1.0, and JavaScript's own numbers do not.
export class Numeral {
  constructor(text) {
    this.text = text;
  }

  get whole() {
    return /^-?\d+$/.test(this.text);
  }

  get value() {
    return Number(this.text);
  }
}

const DEEPEST = 300;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const BLANK = /[ \t\n\r]*/y;
const WORDS = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

// Plain data: Maps, arrays, texts, truth values, null and Numerals. A key that comes twice is refused.
export function parseJson(text) {
  let at = 0;
  const wrong = () => new Refusal("json", "this is not JSON");

  function match(pattern) {
    pattern.lastIndex = at;
    const met = pattern.exec(text);
    if (met === null) throw wrong();
    at = pattern.lastIndex;
    return met[0];
  }

  function listed(end, entry) {
    at += 1;
    match(BLANK);
    if (text[at] === end) {
      at += 1;
      return;
    }
    for (;;) {
      entry();
      match(BLANK);
      const sign = text[at];
      at += 1;
      if (sign === end) return;
      if (sign !== ",") throw wrong();
      match(BLANK);
    }
  }

  function value(room) {
    if (room === 0) throw wrong();
    match(BLANK);
    const sign = text[at];
    if (sign === "{") {
      const members = new Map();
      listed("}", () => {
        const key = JSON.parse(match(STRING));
        match(BLANK);
        if (text[at] !== ":" || members.has(key)) throw wrong();
        at += 1;
        members.set(key, value(room - 1));
      });
      return members;
    }
    if (sign === "[") {
      const entries = [];
      listed("]", () => entries.push(value(room - 1)));
      return entries;
    }
    if (sign === '"') return JSON.parse(match(STRING));
    for (const [word, meaning] of WORDS) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return meaning;
      }
    }
    const number = new Numeral(match(NUMBER));
    if (!Number.isFinite(number.value)) throw wrong();
    return number;
  }

  const read = value(DEEPEST);
  match(BLANK);
  if (at !== text.length) throw wrong();
  return read;
}

const ESCAPES = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);
ESCAPES.set("\f", "\\f").set("\b", "\\b");

function quoted(text) {
  const escape = (sign) => ESCAPES.get(sign) ?? `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `"${text.replace(/["\\]|[^ -~]/g, escape)}"`;
}

// Texts in the order of their letters, as Python sorts them; JavaScript sorts by halves of letters.
function byLetters(left, right) {
  const [a, b] = [[...left], [...right]];
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const apart = a[i].codePointAt(0) - b[i].codePointAt(0);
    if (apart !== 0) return apart;
  }
  return a.length - b.length;
}

function written(value, comma, colon, sorted) {
  const inner = (each) => written(each, comma, colon, sorted);
  if (value instanceof Numeral) return value.text;
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(inner).join(comma)}]`;
  if (value instanceof Map) {
    const keys = [...value.keys()];
    if (sorted) keys.sort(byLetters);
    return `{${keys.map((key) => quoted(key) + colon + inner(value.get(key))).join(comma)}}`;
  }
  return String(value);
}

// The text that sulq.wire.canonical writes.
export const canonical = (value) => written(value, ",", ":", true);

// The text that Python's json.dumps writes by itself: the hash of a schema is of that.
export const dumped = (value) => written(value, ", ", ": ", false);
