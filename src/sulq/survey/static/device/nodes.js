// Columns, constants, comparisons and conditions. Each node says the same as its twin in sulq/queries.

import { Numeral, Refusal } from "./json.js";
import { LIMIT_BITS, commonBits, flagFacts, numberFacts } from "./facts.js";
import { binaryExponent, bitLength, exactly, truncatedTo, wholeNumber } from "./rational.js";
import { columnOf, dayOf, isKnown, levelText } from "./schema.js";
import { conditionOf, define, factsOf, numberOf, textOf, truth } from "./expressions.js";

const RELATIONS = new Map([
  ["<", (a, b) => a < b],
  ["<=", (a, b) => a <= b],
  [">", (a, b) => a > b],
  [">=", (a, b) => a >= b],
  ["==", (a, b) => a === b],
  ["!=", (a, b) => a !== b],
]);

const columnFacts = (node, schema) => columnOf(schema, node.column).facts;

function leaf(name, facts, value) {
  define(name, { plain: ["name"] }, facts, value, (node) => {
    node.column = textOf(node.name, "the name of a column");
  });
}

leaf("column", columnFacts, (node, row) => row.column(node.column));

leaf(
  "known",
  (node, schema) => {
    if (!columnOf(schema, node.column).drops)
      throw new Refusal("range", "this column does not keep which cells are missing");
    return flagFacts();
  },
  (node, row) => truth(isKnown(columnOf(row.schema, node.column), row.answers.get(node.column))),
);

// The grid of a public number, its value there, and whether anything was truncated.
function constantGrid(numeral) {
  const exact = exactly(numeral);
  if (exact.n === 0n) return { bits: 0, value: 0n, rounded: false };
  const twos = bitLength(exact.d) - 1;
  const bits = Math.min(twos, LIMIT_BITS - binaryExponent(numeral.value));
  return { bits, value: truncatedTo(exact, bits), rounded: bits < twos };
}

define(
  "constant",
  { plain: ["constant"] },
  (node) => {
    if (typeof node.constant === "string")
      throw new Refusal("range", "a text can only be compared with a category");
    const { bits, value, rounded } = constantGrid(node.constant);
    return numberFacts(bits, [value], [value], rounded);
  },
  (node) => [constantGrid(node.constant).value],
  ({ constant }) => {
    const number = constant instanceof Numeral && Math.abs(constant.value) <= 1e200;
    if (!number && typeof constant !== "string")
      throw new Refusal("form", "a constant is a number or a text");
  },
);

// The category's side and the place of the value that it is compared with; null where numbers are compared.
function categorySide(node, schema) {
  for (const [side, other] of [
    [node.left, node.right],
    [node.right, node.left],
  ]) {
    if (side.is === "constant" || !factsOf(side, schema).code) continue;
    const place =
      other.is === "constant" ? (factsOf(side, schema).levels ?? []).indexOf(levelText(other.constant)) : -1;
    if (place === -1 || !["==", "!="].includes(node.relation)) {
      throw new Refusal("range", "a category is compared with one of its values by == or !=");
    }
    return { side, place };
  }
  return null;
}

// What is compared: of a date with a day, the number of that day.
function comparedSides(node, schema) {
  const sides = [node.left, node.right];
  sides.forEach((side, i) => {
    const other = sides[1 - i];
    const kind = side.is === "column" ? columnOf(schema, side.column) : null;
    if (kind?.type !== "date" || other.is !== "constant" || typeof other.constant !== "string") return;
    const day = dayOf(other.constant);
    if (day === null) throw new Refusal("form", "a date is compared with a day, as 2024-01-31");
    sides[1 - i] = {
      ...other,
      facts: null,
      text: `day ${day - kind.first}`,
      constant: new Numeral(String(day - kind.first)),
    };
  });
  return sides;
}

function comparedBits(sides, schema) {
  const known = sides.map((side) => numberOf(side, schema));
  if (known.some((side) => side.width !== 1)) throw new Refusal("range", "only single numbers are compared");
  const rounded = known.filter((side) => side.rounded).map((side) => side.bits);
  const finest = rounded.length ? Math.min(...rounded) : Math.max(...known.map((side) => side.bits));
  return Math.min(finest, commonBits(known, 52));
}

define(
  "compare",
  { single: ["left", "right"], plain: ["relation"] },
  (node, schema) => {
    if (categorySide(node, schema) === null) comparedBits(comparedSides(node, schema), schema);
    return flagFacts();
  },
  (node, row) => {
    const compare = RELATIONS.get(node.relation);
    const category = categorySide(node, row.schema);
    if (category !== null) return truth(compare(row.choice(category.side), category.place));
    const sides = comparedSides(node, row.schema);
    const bits = comparedBits(sides, row.schema);
    const [left, right] = sides.map((side) => row.number(side, bits)[0]);
    return truth(compare(left, right));
  },
  ({ relation }) => {
    if (!RELATIONS.has(relation))
      throw new Refusal("form", `a comparison is one of ${[...RELATIONS.keys()].join(" ")}`);
  },
);

function bothConditions(node, schema) {
  conditionOf(node.left, schema);
  conditionOf(node.right, schema);
  return flagFacts();
}

const SIDES = { single: ["left", "right"] };
define("and", SIDES, bothConditions, (node, row) =>
  truth(row.condition(node.left) && row.condition(node.right)),
);
define("or", SIDES, bothConditions, (node, row) =>
  truth(row.condition(node.left) || row.condition(node.right)),
);

define(
  "not",
  { single: ["inner"] },
  (node, schema) => {
    conditionOf(node.inner, schema);
    return flagFacts();
  },
  (node, row) => truth(!row.condition(node.inner)),
);

define(
  "xor",
  { several: ["bits"], plain: ["mask"] },
  (node, schema) => {
    node.bits.forEach((bit) => conditionOf(bit, schema));
    return flagFacts();
  },
  (node, row) =>
    truth(node.bits.filter((bit, i) => node.masked[i] === 1 && row.condition(bit)).length % 2 === 1),
  (node) => {
    node.masked = node.mask.map((each) => wholeNumber(each, "a mask's entry", 0, 1));
    if (node.masked.length !== node.bits.length)
      throw new Refusal("form", "a parity has a mask for each of its bits");
  },
);
