// Row expressions: read from their forms, known by their facts, and worked out on a person's own answers.

import { Numeral, Refusal, canonical } from "./json.js";
import { codeFacts, isFlag, regridded } from "./facts.js";
import { columnOf, encoded } from "./schema.js";

const DEEPEST_NODES = 120;
const MOST_CODES = 2 ** 20;

// Every kind of expression by its name in forms: which of its fields are expressions, or lists of them, what
// its other fields are called, its facts and its value. The files *nodes.js fill it.
export const NODES = new Map();

export function define(name, fields, facts, value, check = () => {}) {
  const [single, several, plain] = ["single", "several", "plain"].map((kind) => fields[kind] ?? []);
  NODES.set(name, { single, several, plain, facts, value, check });
}

// The expression with this form; of a kind that is not known, or with other fields, it is refused.
export function expressionOf(form, room = DEEPEST_NODES) {
  const name = form instanceof Map ? form.get("node") : undefined;
  const kind = NODES.get(name);
  if (kind === undefined)
    throw new Refusal(
      "unknown",
      `this device does not know the row expression ${JSON.stringify(name) ?? "without a name"}`,
    );
  const names = [...kind.single, ...kind.several, ...kind.plain];
  if (room === 0 || form.size !== names.length + 1 || !names.every((field) => form.has(field))) {
    throw new Refusal(
      "form",
      `the row expression "${name}" has ${names.join(", ")}, at most ${DEEPEST_NODES} deep`,
    );
  }
  const node = { is: name, kind, text: canonical(form), facts: null };
  for (const field of kind.single) node[field] = expressionOf(form.get(field), room - 1);
  for (const field of kind.several) {
    if (!Array.isArray(form.get(field))) throw new Refusal("form", `the ${field} of "${name}" are a list`);
    node[field] = form.get(field).map((each) => expressionOf(each, room - 1));
  }
  for (const field of kind.plain) node[field] = form.get(field);
  kind.check(node);
  return node;
}

// The facts of an expression by a schema, a number's or a code's.
export function factsOf(node, schema) {
  if (node.facts === null) node.facts = node.kind.facts(node, schema);
  return node.facts;
}

export function numberOf(node, schema) {
  const known = factsOf(node, schema);
  if (known.code) throw new Refusal("range", "a number is needed here, not a category");
  return known;
}

// A category, a truth value or a bounded whole number, read as a choice among few.
export function choiceOf(node, schema) {
  const known = factsOf(node, schema);
  if (known.code) return known;
  const size = known.width === 1 && known.bits === 0 ? Number(known.high[0] - known.low[0]) + 1 : Infinity;
  if (size > MOST_CODES) throw new Refusal("range", "this has no short list of values");
  return codeFacts(size);
}

export function conditionOf(node, schema) {
  if (!isFlag(factsOf(node, schema))) throw new Refusal("range", "a condition is true or false");
}

// A person's answers, on which every expression is worked out at most once.
export class Row {
  constructor(schema, answers) {
    this.schema = schema;
    this.answers = answers;
    this.known = new Map();
  }

  value(node) {
    if (!this.known.has(node.text)) {
      factsOf(node, this.schema);
      this.known.set(node.text, node.kind.value(node, this));
    }
    return this.known.get(node.text);
  }

  // A column's value in whole steps of its grid, or its code.
  column(name) {
    return encoded(columnOf(this.schema, name), this.answers.get(name));
  }

  // A number's coordinates, on its own grid or on another.
  number(node, bits = null) {
    const known = numberOf(node, this.schema);
    const value = this.value(node);
    return bits === null || bits === known.bits
      ? value
      : value.map((each) => regridded(each, bits - known.bits));
  }

  condition(node) {
    return this.number(node)[0] !== 0n;
  }

  // A choice as a whole number from 0.
  choice(node) {
    const known = factsOf(node, this.schema);
    return known.code ? this.value(node) : Number(this.value(node)[0] - known.low[0]);
  }
}

export const truth = (holds) => [holds ? 1n : 0n];

export function textOf(value, what) {
  if (typeof value !== "string") throw new Refusal("form", `${what} is a text`);
  return value;
}

export function numeralsOf(value, what) {
  if (!Array.isArray(value) || value.length === 0 || !value.every((each) => each instanceof Numeral)) {
    throw new Refusal("form", `${what} are a list of numbers`);
  }
  return value;
}

// Lists of numbers, all of one length.
export function tableOf(value, what) {
  if (!Array.isArray(value) || value.length === 0) throw new Refusal("form", `${what} are a list of lists`);
  const rows = value.map((row) => numeralsOf(row, what));
  if (rows.some((row) => row.length !== rows[0].length))
    throw new Refusal("form", `${what} are all of one length`);
  return rows;
}
