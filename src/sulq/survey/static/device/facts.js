// What is known of a row expression before a row is read: sulq/queries/facts.py has the reasons.
// A number is a whole number of steps of 2^-bits; what differs between two rows is not needed on a device.

import { Refusal } from "./json.js";
import { absolute, bitLength, least, most, mostOf, rootUp } from "./rational.js";

export const LIMIT_BITS = 37;
export const EXACT_BITS = 53;
export const EXACT = 1n << 53n;
export const MOST_NUMBERS = 2 ** 16;
const COARSEST = -850;

export const codeFacts = (size, levels = null) => ({ code: true, size, levels });
export const sumOf = (numbers) => numbers.reduce((a, b) => a + b, 0n);

function facts(bits, low, high, norm1, square, rounded) {
  const magnitudes = low.map((each, i) => most(absolute(each), absolute(high[i])));
  return {
    code: false,
    width: low.length,
    bits,
    low,
    high,
    norm1,
    square,
    rounded,
    magnitudes,
    magnitude: mostOf(magnitudes),
  };
}

// The facts that follow from an interval for each coordinate, and from sharper bounds on the norms.
export function numberFacts(bits, low, high, rounded, { norm1 = null, square = null } = {}) {
  checkWidth(low.length);
  const { magnitudes, magnitude } = facts(bits, low, high, 0n, 0n, rounded);
  if (magnitude > 1n << BigInt(LIMIT_BITS) || bits < COARSEST) {
    throw new Refusal("range", "a value could leave the range in which sums are exact");
  }
  const given = (bound) => (bound === null ? [] : [bound]);
  const byBox = least(...given(square), sumOf(magnitudes.map((each) => each * each)));
  const one = least(...given(norm1), sumOf(magnitudes), rootUp(BigInt(low.length) * byBox));
  return facts(bits, low, high, one, least(byBox, magnitude * one), rounded);
}

export function checkWidth(width) {
  if (width < 1 || width > MOST_NUMBERS) {
    throw new Refusal("range", `a device works out from 1 to ${MOST_NUMBERS} numbers at once, not ${width}`);
  }
}

export const flagFacts = () => numberFacts(0, [0n], [1n], false);
export const isFlag = (known) =>
  !known.code && known.width === 1 && known.bits === 0 && known.low[0] >= 0n && known.high[0] <= 1n;

// A value on another grid; on a coarser one it is truncated towards zero.
export function regridded(value, shift) {
  if (shift >= 0) return value << BigInt(shift);
  return value < 0n ? -(-value >> BigInt(-shift)) : value >> BigInt(-shift);
}

export function onGrid(known, bits) {
  const shift = bits - known.bits;
  if (shift === 0) return known;
  const [low, high] = [known.low, known.high].map((side) => side.map((each) => regridded(each, shift)));
  const norm1 = regridded(known.norm1, shift);
  const square = regridded(known.square, 2 * shift);
  if (shift > 0) return facts(bits, low, high, norm1, square, known.rounded);
  return numberFacts(bits, low, high, true, { norm1, square });
}

const magnitudeBits = (known) => bitLength(known.magnitude);

export function coarsened(known, room) {
  return onGrid(known, known.bits - Math.max(0, magnitudeBits(known) - room));
}

export function coarsenedByOne(known) {
  return known.magnitude === 0n ? onGrid(known, known.bits - 1) : coarsened(known, magnitudeBits(known) - 1);
}

// Both on grids so coarse that a sum of `terms` products of their coordinates fits `room` bits.
export function factors(left, right, terms = 1, room = LIMIT_BITS) {
  room -= bitLength(BigInt(terms - 1));
  const [small, large] = [magnitudeBits(left), magnitudeBits(right)].sort((a, b) => a - b);
  const each = small + large > room ? Math.max(room - small, Math.floor(room / 2)) : Math.max(small, large);
  const [a, b] = [coarsened(left, each), coarsened(right, each)];
  const excess = magnitudeBits(a) + magnitudeBits(b) - room;
  return excess > 0 ? [a, coarsened(b, magnitudeBits(b) - excess)] : [a, b];
}

// The finest grid among theirs on which the sum of all their magnitudes still fits `room` bits.
export function commonBits(sides, room = LIMIT_BITS) {
  let bits = Math.max(...sides.map((side) => side.bits));
  const tooLarge = () =>
    sumOf(sides.map((side) => regridded(side.magnitude, bits - side.bits))) > 1n << BigInt(room);
  while (tooLarge()) bits -= 1;
  return bits;
}

export function joined(sides, bits) {
  const on = sides.map((side) => onGrid(side, bits));
  return numberFacts(
    bits,
    on.flatMap((side) => side.low),
    on.flatMap((side) => side.high),
    on.some((side) => side.rounded),
    { norm1: sumOf(on.map((side) => side.norm1)), square: sumOf(on.map((side) => side.square)) },
  );
}

export function widened(known, width) {
  if (known.width === width) return known;
  if (known.width !== 1) throw new Refusal("range", "vectors of different lengths cannot be combined");
  checkWidth(width);
  return joined(Array(width).fill(known), known.bits);
}

// (√a + √b)², rounded up.
export const squareOfSum = (a, b) => a + b + rootUp(4n * a * b);

// The least and the most of the four products of two intervals' ends.
export function corners(low, high, otherLow, otherHigh) {
  const products = [low * otherLow, low * otherHigh, high * otherLow, high * otherHigh];
  return [least(...products), most(...products)];
}
