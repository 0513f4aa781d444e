// Reports that are directions. Directions are drawn by bytes alone and reported as they are: their floats say nothing of
// a person's vector, however they are rounded.

import { Refusal } from "./json.js";
import { wholeNumber } from "./rational.js";
import { ONE, below, position, rounded, uniformBelow, word32 } from "./draws.js";
import { MOST_POSSIBILITIES, finite, larger, steps } from "./reading.js";

// Masses of caps are told in multiples of 2^-24, and are smaller than they are by one part in a million.
const MASSES = 2 ** 24;
const MARGIN = 2 ** -20;
const LEAST_MASS = 1 / 128;

const inner = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const euclidean = (vector) => Math.sqrt(inner(vector, vector));
const divided = (vector, by) => vector.map((x) => x / by);

// A uniform direction: normal numbers by Box and Muller, brought to length 1. It is public, so that its floats
// need not be exact: the ratio is that of the bit whatever law the direction has.
function direction(d, bytes) {
  const words = bytes(8 * Math.ceil(d / 2));
  const unit = (at) => (word32(words.subarray(at, at + 4)) + 0.5) / 2 ** 32;
  const drawn = [];
  for (let at = 0; at < words.length; at += 8) {
    const [radius, angle] = [Math.sqrt(-2 * Math.log(unit(at))), 2 * Math.PI * unit(at + 4)];
    drawn.push(radius * Math.cos(angle), radius * Math.sin(angle));
  }
  const kept = drawn.slice(0, d);
  return divided(kept, euclidean(kept));
}

function ballOf(form) {
  const d = wholeNumber(form.get("d"), "the number of coordinates", 1, MOST_POSSIBILITIES);
  const norm = finite(form.get("norm"), "norm");
  if (!(norm >= 0)) throw new Refusal("form", "a norm is at least 0");
  return { d, norm };
}

export function sphere(form, bit) {
  const { d, norm } = ballOf(form);
  return {
    d,
    norm,
    ratio: bit.ratio,
    draw(value, bytes) {
      const towards = direction(d, bytes);
      const keeps = rounded(position(euclidean(value), -norm, norm, 1), bytes) === 1;
      const side = inner(towards, value) >= 0;
      const sign = bit.draw(side === keeps, bytes) === 1 ? 1 : -1;
      return towards.map((x) => sign * x);
    },
  };
}

// How likely a uniform unit vector of d numbers is to be at least so far along a given one: as in Python's cap_mass.
function capMass(d, threshold) {
  if (d === 1) return 0.5;
  const square = 1 - threshold * threshold;
  const odd = d % 2 === 1;
  let between = odd ? threshold : (2 * Math.asin(threshold)) / Math.PI;
  let term = odd ? (threshold * square) / 2 : (2 * threshold * Math.sqrt(square)) / Math.PI;
  for (let n = odd ? 3 : 2; n <= d - 2; n += 2) {
    between += term;
    term *= (square * n) / (n + 1);
  }
  return (1 - between) / 2;
}

// The direction of a vector; a vector of zeros has that of the first coordinate.
function unit(vector) {
  const largest = vector.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  if (largest === 0) return vector.map((_, i) => (i === 0 ? 1 : 0));
  const scaled = divided(vector, largest);
  return divided(scaled, euclidean(scaled));
}

// A unit vector whose expectation is share·v, for a unit vector v: t along v, and else along one of d − 1 vectors that
// are across v and each other, as in Python's cap.py.
function roundedUp(v, share, bytes) {
  const d = v.length;
  if (d === 1) return rounded(position((1 + share) / 2, 0, 1, 1), bytes) === 1 ? v : [-v[0]];
  const which = uniformBelow(4 * (d - 1), bytes);
  const b = Math.min(Math.sqrt((1 - share * share) / d), 1 - share);
  const t = which & 1 ? share + b : share - b;
  const far = (which & 2 ? 1 : -1) * Math.sqrt(Math.max(1 - t * t, 0));
  const place = 1 + (which >> 2);
  const turned = (far * v[place]) / (1 + Math.abs(v[0]));
  const made = v.map((x) => (t - turned) * x);
  made[place] += far;
  made[0] -= v[0] < 0 || Object.is(v[0], -0) ? -turned : turned;
  // A vector that is shorter by rounding would have a smaller cap.
  return divided(made, euclidean(made));
}

// A direction from the cap around a vector, or from outside of it. The ratio is at most that of the form's whole numbers
// if no cap is less likely than the form says, and that is computed here.
export function cap(form) {
  const { d, norm } = ballOf(form);
  const [threshold, lies] = [finite(form.get("threshold"), "threshold"), steps(form, "lies")];
  const mass = wholeNumber(form.get("mass"), "mass", 1, MASSES / 2);
  if (!(threshold >= 0 && threshold < 1) || (d === 1 && threshold > 0))
    throw new Refusal("form", "a cap begins between 0 and 1, in one dimension at 0");
  const most = threshold === 0 ? MASSES / 2 : capMass(d, threshold) * (1 - MARGIN / 2) * MASSES;
  if (!(mass >= LEAST_MASS * MASSES && mass <= most))
    throw new Refusal("promise", "the mass of this cap is not what is stated, or the cap is too small");
  return {
    d,
    norm,
    lies,
    ratio: larger({ n: (ONE - lies) * BigInt(MASSES - mass), d: lies * BigInt(mass) }),
    draw(value, bytes) {
      const share = norm > 0 ? Math.min(euclidean(value) / norm, 1) : 0;
      const towards = roundedUp(unit(value), share, bytes);
      const outside = below(lies, bytes);
      // Draws go on until a direction of either side was met, and the first of one side is reported. So how many were
      // drawn, and how long that took, says nothing of which side it is.
      const met = [null, null];
      while (met[0] === null || met[1] === null) {
        // A direction is as likely as its opposite, whatever floats do: one bit says which of both it is.
        const sign = bytes(1)[0] & 1 ? 1 : -1;
        const drawn = direction(d, bytes).map((x) => sign * x);
        met[inner(drawn, towards) < threshold ? 1 : 0] ??= drawn;
      }
      return met[outside ? 1 : 0];
    },
  };
}
