// The local randomizers, read from their forms: what each promises, by its whole numbers alone, and its draws.
// A ratio is the largest of Pr[report | one value]/Pr[report | another], exactly.

import { Numeral, Refusal } from "./json.js";
import { fraction, positiveFraction, wholeNumber } from "./rational.js";
import {
  ONE,
  below,
  discreteLaplace,
  packedBits,
  position,
  positionAmong,
  rounded,
  roundedByLeadingBits,
  shares,
  uniformBelow,
  word32,
} from "./draws.js";
import { blockTable } from "./designs.js";
import { cap, sphere } from "./directions.js";
import { MOST_POSSIBILITIES, larger, steps, ends, box, possibilities } from "./reading.js";

const CELLS = 2 ** 12;
const MOST_COUNT = 2 ** 20;
const LAPLACE_STEPS = 4096;
const FARTHEST = 64n;
const MOST_BITS = 16;

const power = (ratio, times_) => fraction(ratio.n ** BigInt(times_), ratio.d ** BigInt(times_));
const within = (value, k) => Math.min(Math.max(value, 0), k - 1);

function response(form) {
  const lies = steps(form, "lies");
  return {
    ratio: larger({ n: ONE - lies, d: lies }),
    lies,
    draw: (value, bytes) => Number(below(lies, bytes) !== Boolean(value)),
  };
}

function kary(form) {
  const [k, lies] = [possibilities(form), steps(form, "lies")];
  return {
    k,
    lies,
    reports: k,
    ratio: larger({ n: (ONE - lies) * BigInt(k - 1), d: lies }),
    draw(value, bytes) {
      const lie = below(lies, bytes);
      const step = 1 + uniformBelow(k - 1, bytes);
      return (within(value, k) + (lie ? step : 0)) % k;
    },
  };
}

function unary(form) {
  const [k, own, other] = [possibilities(form), steps(form, "own"), steps(form, "other")];
  const width = Math.ceil(k / 8);
  return {
    k,
    own,
    other,
    ratio: larger({ n: own * (ONE - other), d: other * (ONE - own) }),
    draw(value, bytes) {
      const truth = within(value, k);
      const bits = packedBits(other, width, bytes);
      bits[width - 1] &= 255 >> (8 * width - k);
      const mask = 1 << (truth & 7);
      bits[truth >> 3] = (bits[truth >> 3] & ~mask) | (below(own, bytes) ? mask : 0);
      return bits;
    },
  };
}

function oddOnes(n) {
  let odd = false;
  for (let rest = n; rest > 0; rest &= rest - 1) odd = !odd;
  return odd;
}

function hadamard(form) {
  const [k, lies] = [possibilities(form), steps(form, "lies")];
  const rows = 2 ** (k - 1).toString(2).length;
  return {
    k,
    lies,
    reports: 2 * rows,
    ratio: larger({ n: ONE - lies, d: lies }),
    draw(value, bytes) {
      const row = word32(bytes(4)) % rows;
      return 2 * row + Number(oddOnes(row & within(value, k)) !== below(lies, bytes));
    },
  };
}

function design(form) {
  const [k, lies] = [possibilities(form), steps(form, "lies")];
  const named = form.get("size");
  const size = {};
  for (const name of ["residues", "block", "overlap", "q", "t"]) {
    size[name] = wholeNumber(named instanceof Map ? named.get(name) : null, name, 0, MOST_POSSIBILITIES);
  }
  const { residues, block } = size;
  const table = blockTable(size);
  if (residues < k)
    throw new Refusal("promise", "a design has at least as many residues as there are possibilities");
  return {
    k,
    lies,
    reports: residues,
    ratio: larger({ n: (ONE - lies) * BigInt(residues - block), d: lies * BigInt(block) }),
    draw(value, bytes) {
      const outside = below(lies, bytes);
      const place = (outside ? block : 0) + uniformBelow(outside ? residues - block : block, bytes);
      return (within(value, k) + table[place]) % residues;
    },
  };
}

function oneBit(form) {
  const [{ low, high }, bit] = [ends(form), inside(form.get("bit"), ["response"])];
  return {
    low,
    high,
    ratio: bit.ratio,
    draw: (value, bytes) => bit.draw(rounded(position(value, low, high, 1), bytes), bytes),
  };
}

function piecewise(form) {
  const [{ low, high }, lies] = [ends(form), steps(form, "lies")];
  const window = wholeNumber(form.get("window"), "window", 1, CELLS - 1);
  return {
    low,
    high,
    lies,
    cells: CELLS,
    ratio: larger({ n: (ONE - lies) * BigInt(CELLS - window), d: lies * BigInt(window) }),
    draw(value, bytes) {
      const place = rounded(position(value, low, high, CELLS - window), bytes);
      const outside = below(lies, bytes);
      const drawn = uniformBelow(outside ? CELLS - window : window, bytes);
      return (place + (outside ? window : 0) + drawn) & (CELLS - 1);
    },
  };
}

// Cells that count unevenly: places of the window stand for numbers as far apart as what enters and leaves counts.
function windowed(form) {
  const [{ low, high }, lies, values] = [ends(form), steps(form, "lies"), form.get("values")];
  if (!Array.isArray(values) || values.length < 1 || values.length > CELLS / 2)
    throw new Refusal("form", `values are a list of 1 to ${CELLS / 2} whole numbers`);
  const lower = values.map((each) => wholeNumber(each, "a value", 0, MOST_COUNT));
  const counts = [...lower.map((each) => -each), ...[...lower].reverse()];
  const cells = counts.length;
  const window = wholeNumber(form.get("window"), "window", 1, cells - 1);
  const marks = [0];
  for (let place = 0; place + window < cells; place += 1) {
    const more = counts[place + window] - counts[place];
    if (!(more > 0)) throw new Refusal("form", "a window counts more the further up it is");
    marks.push(marks[place] + more);
  }
  // How far from the window's beginning a report is has the same law for every number.
  const likely = (ONE - lies) * BigInt(cells - window);
  const beyond = shares(counts.map((_, step) => (step < window ? likely : lies * BigInt(window))));
  return {
    low,
    high,
    lies,
    cells,
    ratio: larger({ n: (ONE - lies) * BigInt(cells - window), d: lies * BigInt(window) }),
    draw(value, bytes) {
      const place = roundedByLeadingBits(positionAmong(value, low, high, marks), bytes);
      return (place + beyond(bytes)) % cells;
    },
  };
}

function laplace(form) {
  const [{ low, high }, exponent] = [ends(form), positiveFraction(form.get("exponent"), "the exponent")];
  const scale = fraction(BigInt(LAPLACE_STEPS) * exponent.d, exponent.n);
  const noise = discreteLaplace(scale);
  const margin = (FARTHEST * scale.n + scale.d - 1n) / scale.d;
  return {
    low,
    high,
    exponent,
    draw(value, bytes) {
      const drawn = BigInt(rounded(position(value, low, high, LAPLACE_STEPS), bytes)) + noise(bytes);
      const [lowest, highest] = [-margin, BigInt(LAPLACE_STEPS) + margin];
      return Number(drawn < lowest ? lowest : drawn > highest ? highest : drawn);
    },
  };
}

function coordinates(form) {
  const [{ lows, highs }, bit] = [box(form), inside(form.get("bit"), ["response"])];
  const bits = wholeNumber(form.get("bits"), "bits", 1, Math.min(lows.length, MOST_BITS));
  return {
    lows,
    highs,
    bits,
    ratio: power(bit.ratio, bits),
    draw(value, bytes) {
      const first = uniformBelow(lows.length, bytes);
      let report = first;
      for (let i = 0; i < bits; i += 1) {
        const which = (first + i) % lows.length;
        report =
          2 * report + bit.draw(rounded(position(value[which], lows[which], highs[which], 1), bytes), bytes);
      }
      return report;
    },
  };
}

function keyed(form) {
  const [{ lows, highs }, inner] = [box(form), inside(form.get("inner"), ["kary", "hadamard", "design"])];
  const groups = wholeNumber(form.get("groups"), "the number of groups", 1, MOST_POSSIBILITIES / 2);
  if (inner.k !== 2 * groups)
    throw new Refusal("form", "inside a keyed report are two possibilities for each group");
  return {
    lows,
    highs,
    groups,
    inner,
    ratio: inner.ratio,
    draw([group, vector], bytes) {
      const which = uniformBelow(lows.length, bytes);
      const end = rounded(position(vector[which], lows[which], highs[which], 1), bytes);
      return which * inner.reports + inner.draw(2 * within(group, groups) + end, bytes);
    },
  };
}

// For each randomizer what its form has, and how it is made of that.
export const RANDOMIZERS = new Map([
  ["response", [["lies"], response]],
  ["kary", [["k", "lies"], kary]],
  ["unary", [["k", "optimised", "own", "other"], unary]],
  ["hadamard", [["k", "lies"], hadamard]],
  ["design", [["k", "size", "lies"], design]],
  ["one bit", [["low", "high", "bit"], oneBit]],
  ["piecewise", [["low", "high", "window", "lies"], piecewise]],
  ["window", [["low", "high", "window", "values", "lies"], windowed]],
  ["laplace", [["low", "high", "exponent"], laplace]],
  ["coordinates", [["lows", "highs", "bits", "bit"], coordinates]],
  ["sphere", [["d", "norm", "bit"], (form) => sphere(form, inside(form.get("bit"), ["response"]))]],
  ["cap", [["d", "norm", "threshold", "mass", "lies"], cap]],
  ["keyed", [["groups", "lows", "highs", "inner"], keyed]],
]);

function inside(form, names) {
  const name = form instanceof Map ? form.get("is") : undefined;
  if (!names.includes(name))
    throw new Refusal(
      "unknown",
      `this device does not know the randomizer ${JSON.stringify(name) ?? "without a name"}`,
    );
  const [fields, make] = RANDOMIZERS.get(name);
  if (form.size !== fields.length + 1 || !fields.every((field) => form.has(field))) {
    throw new Refusal("form", `the randomizer "${name}" has ${fields.join(", ")}`);
  }
  return { is: name, ...make(form) };
}

// The randomizer with this form. Its ratio, or the exponent of it, follows from its whole numbers.
export function randomizerOf(form) {
  const version = form instanceof Map ? form.get("randomizer") : undefined;
  if (!(version instanceof Numeral) || version.text !== "1")
    throw new Refusal("form", "a randomizer is of version 1");
  const rest = new Map(form);
  rest.delete("randomizer");
  return inside(rest, [...RANDOMIZERS.keys()]);
}
