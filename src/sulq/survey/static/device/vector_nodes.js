// Sums, products, vectors, and what depends on a condition or on public bounds. Each node says the same as its twin in sulq/queries.

import { Refusal } from "./json.js";
import {
  EXACT,
  EXACT_BITS,
  LIMIT_BITS,
  checkWidth,
  commonBits,
  corners,
  factors,
  joined,
  numberFacts,
  onGrid,
  squareOfSum,
  widened,
} from "./facts.js";
import {
  atMost,
  binaryExponent,
  bitLength,
  exactly,
  fraction,
  least,
  leastOf,
  most,
  mostOf,
  powerOfTwo,
  truncatedTo,
  wholeNumber,
} from "./rational.js";
import { conditionOf, define, numberOf } from "./expressions.js";
import { columnOf } from "./schema.js";

const FEATURE_BITS = 15;
const TOP = 2 ** 15 - 1;
const SLACK = 1 - powerOfTwo(-48);
const PAIR = { single: ["left", "right"] };
const INNER = { single: ["inner"] };

// A number beside a vector stands for as many as the vector has.
const spread = (values, width) => (values.length === width ? values : Array(width).fill(values[0]));

function sidesOf(left, right, bits) {
  const width = Math.max(left.width, right.width);
  return [left, right].map((side) => widened(onGrid(side, bits), width));
}

define(
  "add",
  PAIR,
  (node, schema) => {
    const sides = [node.left, node.right].map((side) => numberOf(side, schema));
    const bits = commonBits(sides);
    const [a, b] = sidesOf(...sides, bits);
    return numberFacts(
      bits,
      a.low.map((x, i) => x + b.low[i]),
      a.high.map((x, i) => x + b.high[i]),
      a.rounded || b.rounded,
      {
        norm1: a.norm1 + b.norm1,
        square: squareOfSum(a.square, b.square),
      },
    );
  },
  (node, row) => {
    const { bits, width } = numberOf(node, row.schema);
    const [a, b] = [node.left, node.right].map((side) => spread(row.number(side, bits), width));
    return a.map((x, i) => x + b[i]);
  },
);

export const productFactors = (node, schema) =>
  factors(numberOf(node.left, schema), numberOf(node.right, schema));

define(
  "multiply",
  PAIR,
  (node, schema) => {
    const [left, right] = productFactors(node, schema);
    const width = Math.max(left.width, right.width);
    const [a, b] = [widened(left, width), widened(right, width)];
    const ends = a.low.map((low, i) => corners(low, a.high[i], b.low[i], b.high[i]));
    const same = node.left.text === node.right.text;
    const low = ends.map(([end], i) => (same ? most(a.low[i] < 0n && a.high[i] > 0n ? 0n : end, 0n) : end));
    return numberFacts(
      a.bits + b.bits,
      low,
      ends.map(([, end]) => end),
      a.rounded || b.rounded,
      {
        norm1: least(a.magnitude * b.norm1, b.magnitude * a.norm1),
        square: least(a.magnitude ** 2n * b.square, b.magnitude ** 2n * a.square),
      },
    );
  },
  (node, row) => {
    const [left, right] = productFactors(node, row.schema);
    const width = Math.max(left.width, right.width);
    const [a, b] = [
      spread(row.number(node.left, left.bits), width),
      spread(row.number(node.right, right.bits), width),
    ];
    return a.map((x, i) => x * b[i]);
  },
);

define(
  "vector",
  { several: ["parts"] },
  (node, schema) => {
    const known = node.parts.map((part) => numberOf(part, schema));
    checkWidth(known.reduce((width, part) => width + part.width, 0));
    return joined(known, commonBits(known));
  },
  (node, row) => node.parts.flatMap((part) => row.number(part, numberOf(node, row.schema).bits)),
);

// The nearest whole number, of two equally near the even one.
function nearestWhole(x) {
  const down = Math.floor(x);
  const apart = x - down;
  return apart > 0.5 || (apart === 0.5 && down % 2 !== 0) ? down + 1 : down;
}

function scaledFacts(known) {
  const top = known.low.map((low, i) => (low < known.high[i] ? BigInt(TOP) : 0n));
  return numberFacts(
    FEATURE_BITS,
    top.map((each) => -each),
    top,
    true,
  );
}

// The public interval of each coordinate brought to ±TOP; the same roundings as in NumPy, one by one.
function scaledValues(values, known) {
  return values.map((value, i) => {
    const span = Number(known.high[i] - known.low[i]);
    const stretch = span > 0 ? (2 * TOP * SLACK) / span : 0;
    const middle = Number(known.low[i] + known.high[i]) / 2;
    return BigInt(nearestWhole((Number(value) - middle) * stretch));
  });
}

define(
  "scaled",
  INNER,
  (node, schema) => scaledFacts(numberOf(node.inner, schema)),
  (node, row) => scaledValues(row.number(node.inner), numberOf(node.inner, row.schema)),
);

function featureFacts(node, schema) {
  const known = columnOf(schema, node.column).facts;
  if (known.code) throw new Refusal("range", "a feature is a number, not a category");
  return known;
}

define(
  "feature",
  { plain: ["name"] },
  (node, schema) => scaledFacts(featureFacts(node, schema)),
  (node, row) => scaledValues(row.column(node.column), featureFacts(node, row.schema)),
  (node) => {
    node.column = node.name;
  },
);

// The vector on a grid fine enough for its bound and coarse enough for its square.
function clippedGrid(node, schema) {
  const inner = numberOf(node.inner, schema);
  const wanted = FEATURE_BITS - binaryExponent(node.bound.value) - inner.bits;
  const finer = onGrid(
    inner,
    inner.bits + Math.max(0, Math.min(wanted, LIMIT_BITS - bitLength(inner.magnitude))),
  );
  return factors(finer, finer, inner.width, EXACT_BITS)[1];
}

// A bound in steps of a grid; no vector is longer than EXACT anyway.
function boundOn(node, bits) {
  const exact = exactly(node.bound);
  const steps =
    bits >= 0 ? fraction(exact.n << BigInt(bits), exact.d) : fraction(exact.n, exact.d << BigInt(-bits));
  return atMost(steps, fraction(EXACT)) ? steps : fraction(EXACT);
}

define(
  "clip norm",
  { single: ["inner"], plain: ["bound", "order"] },
  (node, schema) => {
    const inner = clippedGrid(node, schema);
    const bound = boundOn(node, inner.bits);
    const [down, square] = [bound.n / bound.d, (bound.n * bound.n) / (bound.d * bound.d)];
    const furthest = inner.magnitudes.map((each) => least(each, down));
    return numberFacts(
      inner.bits,
      inner.low.map((low, i) => most(least(low, 0n), -furthest[i])),
      inner.high.map((high, i) => least(most(high, 0n), furthest[i])),
      true,
      {
        norm1: node.norm === 1 ? least(inner.norm1, down) : inner.norm1,
        square: least(inner.square, square),
      },
    );
  },
  (node, row) => {
    const { bits } = clippedGrid(node, row.schema);
    const values = row.number(node.inner, bits).map(Number);
    const limit = Math.min(node.bound.value * powerOfTwo(bits), 2 ** 53) * SLACK;
    const length =
      node.norm === 1
        ? values.reduce((sum, x) => sum + Math.abs(x), 0)
        : Math.sqrt(values.reduce((sum, x) => sum + x * x, 0));
    const share = length > limit ? limit / Math.max(length, 1) : 1;
    return values.map((x) => BigInt(Math.trunc(x * share)));
  },
  (node) => {
    node.norm = wholeNumber(node.order, "the order of a norm", 1, 2);
    if (exactly(node.bound).n <= 0n || node.bound.value > 1e200)
      throw new Refusal("form", "a norm is clipped to a positive number");
  },
);

define(
  "only",
  { single: ["condition", "inner"] },
  (node, schema) => {
    conditionOf(node.condition, schema);
    const { bits, low, high, rounded, norm1, square } = numberOf(node.inner, schema);
    return numberFacts(
      bits,
      low.map((x) => least(x, 0n)),
      high.map((x) => most(x, 0n)),
      rounded,
      { norm1, square },
    );
  },
  (node, row) => row.number(node.inner).map((x) => (row.condition(node.condition) ? x : 0n)),
);

define(
  "where",
  { single: ["condition", "then", "otherwise"] },
  (node, schema) => {
    conditionOf(node.condition, schema);
    const sides = [node.then, node.otherwise].map((side) => numberOf(side, schema));
    const bits = commonBits(sides);
    const [a, b] = sidesOf(...sides, bits);
    return numberFacts(
      bits,
      a.low.map((x, i) => least(x, b.low[i])),
      a.high.map((x, i) => most(x, b.high[i])),
      a.rounded || b.rounded,
      {
        norm1: most(a.norm1, b.norm1),
        square: most(a.square, b.square),
      },
    );
  },
  (node, row) => {
    const { bits, width } = numberOf(node, row.schema);
    return spread(row.number(row.condition(node.condition) ? node.then : node.otherwise, bits), width);
  },
);

// The bounds on the grid, but never beyond what the value can reach.
function clipBounds(node, schema) {
  const inner = numberOf(node.inner, schema);
  const [lowest, highest] = [leastOf(inner.low), mostOf(inner.high)];
  const [low, high] = [node.low, node.high].map((bound) => truncatedTo(exactly(bound), inner.bits));
  if (high < lowest || low > highest) throw new Refusal("range", "this clip leaves nothing of the value");
  return [most(low, lowest), least(high, highest)];
}

define(
  "clip",
  { single: ["inner"], plain: ["low", "high"] },
  (node, schema) => {
    const inner = numberOf(node.inner, schema);
    const [low, high] = clipBounds(node, schema);
    const [lows, highs] = [inner.low, inner.high].map((side) => side.map((x) => least(most(x, low), high)));
    const shrinks = low <= 0n && high >= 0n;
    return numberFacts(
      inner.bits,
      lows,
      highs,
      inner.rounded,
      shrinks ? { norm1: inner.norm1, square: inner.square } : {},
    );
  },
  (node, row) => {
    const [low, high] = clipBounds(node, row.schema);
    return row.number(node.inner).map((x) => least(most(x, low), high));
  },
  ({ low, high }) => {
    if (!atMost(exactly(low), exactly(high))) throw new Refusal("form", "the bounds of a clip are in order");
  },
);
