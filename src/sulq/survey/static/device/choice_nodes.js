// Choices among few possibilities: bins, the nearest centre, combinations, routes and folds, as in sulq/queries.

import { Refusal } from "./json.js";
import { EXACT, codeFacts, coarsenedByOne, sumOf } from "./facts.js";
import {
  absolute,
  atMost,
  exactly,
  fraction,
  least,
  leastOf,
  most,
  plus,
  raisedTo,
  times,
  truncatedTo,
  wholeNumber,
} from "./rational.js";
import { sha256, utf8 } from "./sha256.js";
import { choiceOf, define, factsOf, numberOf, numeralsOf, tableOf, textOf } from "./expressions.js";

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
  if (point.width !== node.exact[0].length)
    throw new Refusal("range", "centres have as many coordinates as the point");
  const furthest = node.exact
    .flat()
    .map(({ n, d }) => ({ n: absolute(n), d }))
    .reduce((a, b) => (atMost(a, b) ? b : a));
  const tooLarge = () => {
    const c = times(
      furthest,
      point.bits >= 0 ? fraction(1n << BigInt(point.bits)) : fraction(1n, 1n << BigInt(-point.bits)),
    );
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
    return codeFacts(
      node.exact.length,
      node.exact.map((_, i) => String(i)),
    );
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
    if (node.parts.length === 0 || size > 2 ** 26)
      throw new Refusal("range", "these are too many cells, or none");
    return codeFacts(size);
  },
  (node, row) =>
    node.parts.reduce((code, part) => code * choiceOf(part, row.schema).size + row.choice(part), 0),
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
        wholeNumber(
          each,
          "a step of a route",
          i === 0 ? 0 : place + 1,
          i === 0 ? within - 1 : steps.length - 1,
        ),
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
    return codeFacts(
      node.count,
      Array.from({ length: node.count }, (_, i) => String(i)),
    );
  },
  (node, row) => {
    const word = (n) => BigInt.asUintN(64, n);
    let hash = sha256(utf8(node.salt))
      .slice(0, 8)
      .reduceRight((seed, byte) => (seed << 8n) | BigInt(byte), 0n);
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
