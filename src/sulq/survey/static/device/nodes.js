// Columns, constants, comparisons and choices. Each node says the same as its twin in sulq/queries.

import { Numeral, Refusal } from "./json.js";
import { EXACT, LIMIT_BITS, codeFacts, coarsenedByOne, commonBits, flagFacts, numberFacts, sumOf } from "./facts.js";
import { absolute, atMost, binaryExponent, bitLength, exactly, fraction, least, leastOf, most, plus, raisedTo, times, truncatedTo, wholeNumber } from "./rational.js";
import { columnOf, dayOf, isKnown, levelText } from "./schema.js";
import { sha256, utf8 } from "./sha256.js";
import { choiceOf, conditionOf, define, factsOf, numberOf, numeralsOf, tableOf, textOf, truth } from "./expressions.js";

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
    if (!columnOf(schema, node.column).drops) throw new Refusal("range", "this column does not keep which cells are missing");
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
    if (typeof node.constant === "string") throw new Refusal("range", "a text can only be compared with a category");
    const { bits, value, rounded } = constantGrid(node.constant);
    return numberFacts(bits, [value], [value], rounded);
  },
  (node) => [constantGrid(node.constant).value],
  ({ constant }) => {
    const number = constant instanceof Numeral && Math.abs(constant.value) <= 1e200;
    if (!number && typeof constant !== "string") throw new Refusal("form", "a constant is a number or a text");
  },
);

// The category's side and the place of the value that it is compared with; null where numbers are compared.
function categorySide(node, schema) {
  for (const [side, other] of [[node.left, node.right], [node.right, node.left]]) {
    if (side.is === "constant" || !factsOf(side, schema).code) continue;
    const place = other.is === "constant" ? (factsOf(side, schema).levels ?? []).indexOf(levelText(other.constant)) : -1;
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
    sides[1 - i] = { ...other, facts: null, text: `day ${day - kind.first}`, constant: new Numeral(String(day - kind.first)) };
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
    if (!RELATIONS.has(relation)) throw new Refusal("form", `a comparison is one of ${[...RELATIONS.keys()].join(" ")}`);
  },
);

function bothConditions(node, schema) {
  conditionOf(node.left, schema);
  conditionOf(node.right, schema);
  return flagFacts();
}

const SIDES = { single: ["left", "right"] };
define("and", SIDES, bothConditions, (node, row) => truth(row.condition(node.left) && row.condition(node.right)));
define("or", SIDES, bothConditions, (node, row) => truth(row.condition(node.left) || row.condition(node.right)));

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
  (node, row) => truth(node.bits.filter((bit, i) => node.masked[i] === 1 && row.condition(bit)).length % 2 === 1),
  (node) => {
    node.masked = node.mask.map((each) => wholeNumber(each, "a mask's entry", 0, 1));
    if (node.masked.length !== node.bits.length) throw new Refusal("form", "a parity has a mask for each of its bits");
  },
);

// A number as Python's "%g" writes it: the names of bins are made of such.
function briefly(x) {
  const [digits, power] = x.toExponential(5).split("e");
  const exponent = Number(power);
  const short = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (exponent >= -4 && exponent < 6) return short(x.toFixed(5 - exponent));
  return `${short(digits)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

define(
  "bins",
  { single: ["inner"], plain: ["edges"] },
  (node, schema) => {
    if (numberOf(node.inner, schema).width !== 1) throw new Refusal("range", "bins take a single number");
    const names = node.edges.map((edge) => briefly(edge.value));
    const between = names.slice(1).map((name, i) => `${names[i]} to ${name}`);
    return codeFacts(names.length + 1, [`below ${names[0]}`, ...between, `${names.at(-1)} and up`]);
  },
  (node, row) => {
    const known = numberOf(node.inner, row.schema);
    const [value] = row.number(node.inner);
    const whole = known.rounded ? truncatedTo : raisedTo;
    const steps = node.exact.map((edge) => least(most(whole(edge, known.bits), -EXACT), EXACT));
    return steps.filter((edge) => edge <= value).length;
  },
  (node) => {
    node.exact = numeralsOf(node.edges, "edges").map(exactly);
    if (node.exact.some((edge, i) => i > 0 && atMost(edge, node.exact[i - 1]))) {
      throw new Refusal("form", "edges are in increasing order");
    }
  },
);

// The point's facts on a grid on which the scores of all centres are exact.
function nearestGrid(node, schema) {
  let point = numberOf(node.point, schema);
  if (point.width !== node.exact[0].length) throw new Refusal("range", "centres have as many coordinates as the point");
  const furthest = node.exact.flat().map(({ n, d }) => ({ n: absolute(n), d })).reduce((a, b) => (atMost(a, b) ? b : a));
  const tooLarge = () => {
    const c = times(furthest, point.bits >= 0 ? fraction(1n << BigInt(point.bits)) : fraction(1n, 1n << BigInt(-point.bits)));
    const score = times(times(fraction(BigInt(point.width)), c), plus(c, fraction(2n * point.magnitude)));
    return !atMost(score, fraction(EXACT));
  };
  while (tooLarge()) point = coarsenedByOne(point);
  return point.bits;
}

define(
  "nearest",
  { single: ["point"], plain: ["centres"] },
  (node, schema) => {
    nearestGrid(node, schema);
    return codeFacts(node.exact.length, node.exact.map((_, i) => String(i)));
  },
  (node, row) => {
    const bits = nearestGrid(node, row.schema);
    const point = row.number(node.point, bits);
    const scores = node.exact.map((centre) =>
      sumOf(centre.map((each) => truncatedTo(each, bits)).map((c, i) => c * c - 2n * c * point[i])),
    );
    return scores.indexOf(leastOf(scores));
  },
  (node) => {
    node.exact = tableOf(node.centres, "centres").map((centre) => centre.map(exactly));
  },
);

define(
  "cross",
  { several: ["parts"] },
  (node, schema) => {
    const size = node.parts.map((part) => choiceOf(part, schema).size).reduce((a, b) => a * b, 1);
    if (node.parts.length === 0 || size > 2 ** 26) throw new Refusal("range", "these are too many cells, or none");
    return codeFacts(size);
  },
  (node, row) => node.parts.reduce((code, part) => code * choiceOf(part, row.schema).size + row.choice(part), 0),
);

define(
  "route",
  { several: ["attributes"], plain: ["steps", "size"] },
  (node, schema) => {
    const sizes = node.attributes.map((attribute) => choiceOf(attribute, schema).size);
    if (node.ways.some(([first, ...onward]) => onward.length > 0 && onward.length !== sizes[first])) {
      throw new Refusal("range", "a route goes one way for each possibility of what it asks about");
    }
    return codeFacts(node.codes);
  },
  (node, row) => {
    let at = 0;
    while (node.ways[at].length > 1) at = node.ways[at][1 + row.choice(node.attributes[node.ways[at][0]])];
    return node.ways[at][0];
  },
  (node) => {
    node.codes = wholeNumber(node.size, "the size of a route", 1, 2 ** 26);
    const steps = Array.isArray(node.steps) ? node.steps : [];
    node.ways = steps.map((step, place) => {
      const within = step.length > 1 ? node.attributes.length : node.codes;
      return numeralsOf(step, "the steps of a route").map((each, i) =>
        wholeNumber(each, "a step of a route", i === 0 ? 0 : place + 1, i === 0 ? within - 1 : steps.length - 1),
      );
    });
    if (node.ways.length === 0) throw new Refusal("form", "a route has at least one step");
  },
);

define(
  "fold",
  { several: ["values"], plain: ["folds", "salt"] },
  (node, schema) => {
    node.values.forEach((value) => factsOf(value, schema));
    return codeFacts(node.count, Array.from({ length: node.count }, (_, i) => String(i)));
  },
  (node, row) => {
    const word = (n) => BigInt.asUintN(64, n);
    let hash = sha256(utf8(node.salt)).slice(0, 8).reduceRight((seed, byte) => (seed << 8n) | BigInt(byte), 0n);
    for (const each of node.values.flatMap((value) => row.value(value))) {
      hash = word((hash ^ word(BigInt(each))) + 0x9e3779b97f4a7c15n);
      hash = word((hash ^ (hash >> 30n)) * 0xbf58476d1ce4e5b9n);
      hash = word((hash ^ (hash >> 27n)) * 0x94d049bb133111ebn);
      hash ^= hash >> 31n;
    }
    return Number(hash % BigInt(node.count));
  },
  (node) => {
    node.count = wholeNumber(node.folds, "the number of folds", 2, 1000);
    textOf(node.salt, "the salt of folds");
    if (node.values.length === 0) throw new Refusal("form", "folds need at least one value");
  },
);
