// Products of vectors, public tables and the logistic function. Each node says the same as its twin in sulq/queries.

import { Refusal } from "./json.js";
import {
  EXACT_BITS,
  LIMIT_BITS,
  checkWidth,
  corners,
  factors,
  numberFacts,
  regridded,
  sumOf,
} from "./facts.js";
import {
  absolute,
  binaryExponent,
  bitLength,
  exactly,
  fraction,
  least,
  leastOf,
  most,
  mostOf,
  powerBounds,
  rootDown,
  truncatedTo,
} from "./rational.js";
import { choiceOf, define, numberOf, tableOf } from "./expressions.js";
import { productFactors } from "./vector_nodes.js";

const TABLE_BITS = 30;

function dotFactors(node, schema) {
  const [left, right] = [node.left, node.right].map((side) => numberOf(side, schema));
  if (left.width !== right.width) throw new Refusal("range", "an inner product is of vectors of one length");
  return factors(left, right, left.width, EXACT_BITS);
}

define(
  "dot",
  { single: ["left", "right"] },
  (node, schema) => {
    const [left, right] = dotFactors(node, schema);
    const ends = left.low.map((low, i) => corners(low, left.high[i], right.low[i], right.high[i]));
    const longest = rootDown(left.square * right.square);
    let low = most(sumOf(ends.map(([end]) => end)), -longest);
    const high = least(sumOf(ends.map(([, end]) => end)), longest);
    if (node.left.text === node.right.text) low = most(low, 0n);
    const steps = Math.max(0, bitLength(most(absolute(low), absolute(high))) - LIMIT_BITS);
    const [coarseLow, coarseHigh] = [low, high].map((side) => regridded(side, -steps));
    // By Hölder: |⟨u, v⟩| is at most ‖u‖₁ times the largest coordinate of v.
    const norm1 = least(left.norm1 * right.magnitude, right.norm1 * left.magnitude) >> BigInt(steps);
    return numberFacts(
      left.bits + right.bits - steps,
      [coarseLow],
      [coarseHigh],
      left.rounded || right.rounded || steps > 0,
      { norm1, square: norm1 * norm1 },
    );
  },
  (node, row) => {
    const [left, right] = dotFactors(node, row.schema);
    const [a, b] = [row.number(node.left, left.bits), row.number(node.right, right.bits)];
    return [
      regridded(sumOf(a.map((x, i) => x * b[i])), numberOf(node, row.schema).bits - left.bits - right.bits),
    ];
  },
);

define(
  "outer",
  { single: ["left", "right"] },
  (node, schema) => {
    const [left, right] = productFactors(node, schema);
    checkWidth(left.width * right.width);
    const ends = left.low.flatMap((low, i) =>
      right.low.map((other, j) => corners(low, left.high[i], other, right.high[j])),
    );
    return numberFacts(
      left.bits + right.bits,
      ends.map(([end]) => end),
      ends.map(([, end]) => end),
      left.rounded || right.rounded,
      {
        norm1: left.norm1 * right.norm1,
        square: left.square * right.square,
      },
    );
  },
  (node, row) => {
    const [left, right] = productFactors(node, row.schema);
    const across = row.number(node.right, right.bits);
    return row.number(node.left, left.bits).flatMap((x) => across.map((y) => x * y));
  },
);

function gramFactor(node, schema) {
  const inner = numberOf(node.inner, schema);
  return factors(inner, inner)[1];
}

const triangle = (width, cell) =>
  Array.from({ length: width }, (_, i) => Array.from({ length: width - i }, (_, j) => cell(i, i + j))).flat();

define(
  "gram",
  { single: ["inner"] },
  (node, schema) => {
    const x = gramFactor(node, schema);
    checkWidth((x.width * (x.width + 1)) / 2);
    const ends = triangle(x.width, (i, j) => {
      const [low, high] = corners(x.low[i], x.high[i], x.low[j], x.high[j]);
      return [i === j ? most(low, 0n) : low, high];
    });
    return numberFacts(
      2 * x.bits,
      ends.map(([end]) => end),
      ends.map(([, end]) => end),
      x.rounded,
      {
        norm1: (x.norm1 ** 2n + x.square + 1n) / 2n,
        square: x.square ** 2n,
      },
    );
  },
  (node, row) => {
    const x = row.number(node.inner, gramFactor(node, row.schema).bits);
    return triangle(x.length, (i, j) => x[i] * x[j]);
  },
);

// The grid of a public table and its entries there.
function lookupGrid(node) {
  if (node.grid === undefined) {
    const largest = mostOf(node.table.flat().map((each) => Math.abs(each.value)));
    const finest = mostOf(node.exact.flat().map(({ d }) => bitLength(d) - 1));
    const bits = Math.min(finest, TABLE_BITS - binaryExponent(largest));
    node.grid = {
      bits,
      rounded: bits < finest,
      entries: node.exact.map((entry) => entry.map((x) => truncatedTo(x, bits))),
    };
  }
  return node.grid;
}

define(
  "lookup",
  { single: ["choice"], plain: ["table"] },
  (node, schema) => {
    if (choiceOf(node.choice, schema).size !== node.exact.length)
      throw new Refusal("range", "a table has an entry for each possibility");
    const { bits, rounded, entries } = lookupGrid(node);
    const columns = entries[0].map((_, i) => entries.map((entry) => entry[i]));
    return numberFacts(
      bits,
      columns.map((column) => leastOf(column)),
      columns.map((column) => mostOf(column)),
      rounded,
      {
        norm1: mostOf(entries.map((entry) => sumOf(entry.map(absolute)))),
        square: mostOf(entries.map((entry) => sumOf(entry.map((x) => x * x)))),
      },
    );
  },
  (node, row) => lookupGrid(node).entries[row.choice(node.choice)],
  (node) => {
    node.exact = tableOf(node.table, "the entries of a table").map((entry) => entry.map(exactly));
  },
);

define(
  "one hot",
  { single: ["choice"] },
  (node, schema) => {
    const { size } = choiceOf(node.choice, schema);
    checkWidth(size);
    return numberFacts(0, Array(size).fill(size > 1 ? 0n : 1n), Array(size).fill(1n), false, {
      norm1: 1n,
      square: 1n,
    });
  },
  (node, row) => {
    const code = row.choice(node.choice);
    return Array.from({ length: choiceOf(node.choice, row.schema).size }, (_, i) => (i === code ? 1n : 0n));
  },
);

const STEP_BITS = 7;
const FURTHEST = 12 << STEP_BITS;
const GRID_BITS = 16n;
const probabilities = new Map();

// 2^16/(1 + e^-x) for x of so many steps of 2^-7, to the nearest whole number.
function probability(steps) {
  const place = Math.abs(steps);
  if (!probabilities.has(place)) {
    // With E = 2^200·e^x it is 2^16·E/(2^200 + E): no x but 0 comes near to a half.
    const [power] = powerBounds(fraction(BigInt(place), 1n << BigInt(STEP_BITS)), 200);
    probabilities.set(place, (((2n * power) << GRID_BITS) / ((1n << 200n) + power) + 1n) / 2n);
  }
  return steps < 0 ? (1n << GRID_BITS) - probabilities.get(place) : probabilities.get(place);
}

function oddsSteps(value, bits) {
  const steps = regridded(value, STEP_BITS - bits);
  return Number(least(most(steps, BigInt(-FURTHEST)), BigInt(FURTHEST)));
}

define(
  "logistic",
  { single: ["inner"] },
  (node, schema) => {
    const { bits, low, high } = numberOf(node.inner, schema);
    const [lows, highs] = [low, high].map((side) => side.map((x) => probability(oddsSteps(x, bits))));
    return numberFacts(Number(GRID_BITS), lows, highs, false);
  },
  (node, row) =>
    row.number(node.inner).map((x) => probability(oddsSteps(x, numberOf(node.inner, row.schema).bits))),
);
