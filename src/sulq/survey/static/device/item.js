// What a device is asked: checked against the survey's schema and by its own numbers before an answer is looked at.

import { Numeral, Refusal, canonical } from "./json.js";
import { atMost, fraction, fractionText, positiveFraction, powerBounds, powerOfTwo } from "./rational.js";
import { isFlag } from "./facts.js";
import { Row, choiceOf, conditionOf, expressionOf, numberOf } from "./expressions.js";
import { randomizerOf } from "./randomizers.js";
import { digest } from "./sha256.js";
import "./nodes.js";
import "./choice_nodes.js";
import "./date_nodes.js";
import "./vector_nodes.js";
import "./product_nodes.js";

const FIELDS = [
  "item",
  "schema",
  "shape",
  "epsilon",
  "value",
  "group",
  "condition",
  "rows",
  "method",
  "randomizer",
];
const METHODS = ["best", "tight"];
// No randomizer here uses more of an ε than this.
const MOST_EPSILON = fraction(40n);
const PRECISION = 256;

const lengthOf = (form) => (form instanceof Map ? form.size : -1);

// Whether a randomizer keeps ε: its exact ratio is at most a number that is certainly not above e^ε.
export function keepsPromise(randomizer, epsilon) {
  if (randomizer.exponent !== undefined) return atMost(randomizer.exponent, epsilon);
  const [power] = powerBounds(atMost(epsilon, MOST_EPSILON) ? epsilon : MOST_EPSILON, PRECISION);
  return atMost(randomizer.ratio, fraction(power, 1n << BigInt(PRECISION)));
}

const natural = (side, bits) => side.map((each) => Number(each) * powerOfTwo(-bits));
const sameNumbers = (form, numbers) =>
  Array.isArray(form) &&
  form.length === numbers.length &&
  form.every((each, i) => each instanceof Numeral && each.value === numbers[i]);
const sameNumber = (form, number) => sameNumbers([form], [number]);

// Whether a shape follows from what is known of the expressions by the schema alone.
function shapeFollows(shape, { value, group, condition }, schema) {
  const is = shape.get("is");
  if (condition !== null) conditionOf(condition, schema);
  const boxed = (form, known) =>
    lengthOf(form) === 3 &&
    form.get("is") === "box" &&
    sameNumbers(form.get("lows"), natural(known.low, known.bits)) &&
    sameNumbers(form.get("highs"), natural(known.high, known.bits));
  if (group !== null) {
    const size = choiceOf(group, schema).size + (condition === null ? 0 : 1);
    if (!sameNumber(shape.get("size"), size)) return false;
    if (value === null) return is === "one of" && shape.size === 2;
    return is === "keyed" && shape.size === 3 && boxed(shape.get("box"), numberOf(value, schema));
  }
  const known = numberOf(value, schema);
  if (isFlag(known)) return is === "flag" && shape.size === 1;
  if (known.width === 1) {
    const [[low], [high]] = [natural(known.low, known.bits), natural(known.high, known.bits)];
    return (
      is === "interval" &&
      shape.size === 3 &&
      sameNumber(shape.get("low"), low) &&
      sameNumber(shape.get("high"), high)
    );
  }
  const norm = Math.sqrt(Number(known.square) * powerOfTwo(-2 * known.bits));
  return (
    boxed(shape, known) ||
    (is === "ball" &&
      shape.size === 3 &&
      sameNumber(shape.get("size"), known.width) &&
      sameNumber(shape.get("norm"), norm))
  );
}

// Whether a randomizer is one for values of this shape.
function reports(randomizer, shape) {
  const { is } = randomizer;
  const boxed = (form) =>
    sameNumbers(form.get("lows"), randomizer.lows) && sameNumbers(form.get("highs"), randomizer.highs);
  switch (shape.get("is")) {
    case "flag":
      return is === "response";
    case "one of":
      return (
        ["kary", "unary", "hadamard", "design"].includes(is) &&
        randomizer.k === Math.max(shape.get("size").value, 2)
      );
    case "interval":
      return (
        ["one bit", "piecewise", "window", "laplace"].includes(is) &&
        sameNumber(shape.get("low"), randomizer.low) &&
        sameNumber(shape.get("high"), randomizer.high)
      );
    case "box":
      return is === "coordinates" && boxed(shape);
    case "ball":
      return (
        ["sphere", "cap"].includes(is) &&
        sameNumber(shape.get("size"), randomizer.d) &&
        sameNumber(shape.get("norm"), randomizer.norm)
      );
    default:
      return is === "keyed" && sameNumber(shape.get("size"), randomizer.groups) && boxed(shape.get("box"));
  }
}

// The name of an item, as Item.key has it.
function keyOf(form) {
  const keys = ["value", "group", "condition"].map((name) =>
    form.get(name) === null ? null : digest(canonical(form.get(name))),
  );
  const plain = [form.get("shape"), form.get("epsilon"), keys, form.get("rows"), form.get("method")];
  return digest(canonical([form.get("item"), form.get("schema"), ...plain]));
}

// The item with this form, for a person whose answers have this schema. Whatever cannot be verified is refused.
export function itemOf(form, schema) {
  if (!(form instanceof Map) || form.size !== FIELDS.length || !FIELDS.every((name) => form.has(name))) {
    throw new Refusal("form", `an item has ${FIELDS.join(", ")}`);
  }
  const plainly = (name, text) => form.get(name) instanceof Numeral && form.get(name).text === text;
  if (!plainly("item", "1")) throw new Refusal("unknown", "this device knows items of version 1");
  if (!plainly("rows", "1")) throw new Refusal("unknown", "this device reports on one row");
  if (!METHODS.includes(form.get("method")))
    throw new Refusal("unknown", `this device reports by the methods ${METHODS.join(" and ")}`);
  if (form.get("schema") !== schema.hash)
    throw new Refusal("schema", "this item was made for another survey's answers");
  const epsilon = positiveFraction(form.get("epsilon"), "epsilon");
  if (fractionText(epsilon) !== form.get("epsilon"))
    throw new Refusal("form", "epsilon is a fraction in lowest terms");
  const nodes = {};
  for (const name of ["value", "group", "condition"])
    nodes[name] = form.get(name) === null ? null : expressionOf(form.get(name));
  if ((nodes.value === null && nodes.group === null) || (nodes.condition !== null && nodes.group === null)) {
    throw new Refusal("form", "an item has a value or a group, and a condition only with a group");
  }
  const shape = form.get("shape");
  if (!(shape instanceof Map) || !shapeFollows(shape, nodes, schema)) {
    throw new Refusal("promise", "the shape of this item does not follow from the survey's answers");
  }
  const randomizer = randomizerOf(form.get("randomizer"));
  if (!reports(randomizer, shape))
    throw new Refusal("promise", "the randomizer of this item is not for its shape");
  if (!keepsPromise(randomizer, epsilon))
    throw new Refusal("promise", "the randomizer of this item does not keep its epsilon");
  return { key: keyOf(form), epsilon, shape, randomizer, ...nodes };
}

// What an item is about, as its randomizer takes it.
export function valueOf(item, schema, answers) {
  const row = new Row(schema, answers);
  const numbers = (node) => natural(row.number(node), numberOf(node, schema).bits);
  if (item.group === null) {
    if (item.shape.get("is") === "flag") return row.condition(item.value);
    return item.shape.get("is") === "interval" ? numbers(item.value)[0] : numbers(item.value);
  }
  const last = item.shape.get("size").value - 1;
  const code = item.condition !== null && !row.condition(item.condition) ? last : row.choice(item.group);
  return item.value === null ? code : [code, numbers(item.value)];
}

// What is sent about an item: drawn anew at every call.
export function reportOn(item, schema, answers, bytes) {
  return {
    report: 1,
    item: item.key,
    numbers: [item.randomizer.draw(valueOf(item, schema, answers), bytes)],
  };
}

// How a report speaks of the truth, for people: how often a single answer is the real one, where that can be said;
// and how much likelier, at most, one answer made the report than another.
export function oddsOf({ is, lies, ratio, exponent }) {
  const times =
    ratio === undefined
      ? Math.exp(Number(exponent.n) / Number(exponent.d))
      : Number((ratio.n * 1000n) / ratio.d) / 1000;
  const truth = is === "response" || is === "kary" ? 1 - Number(lies) / 2 ** 64 : null;
  return { truth, times };
}
