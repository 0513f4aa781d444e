// Exact numbers: fractions of whole numbers of any size, and bounds on powers of e.

import { Numeral, Refusal } from "./json.js";

export const absolute = (n) => (n < 0n ? -n : n);
export const least = (...numbers) => leastOf(numbers);
export const most = (...numbers) => mostOf(numbers);
// The same of a list: one of tens of thousands is more than an engine takes as arguments.
export const leastOf = (numbers) => numbers.reduce((a, b) => (b < a ? b : a));
export const mostOf = (numbers) => numbers.reduce((a, b) => (b > a ? b : a));
export const bitLength = (n) => (n === 0n ? 0 : absolute(n).toString(2).length);

function divisor(a, b) {
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

// n/d in lowest terms, d > 0.
export function fraction(n, d = 1n) {
  const by = divisor(absolute(n), absolute(d)) * (d < 0n ? -1n : 1n);
  return { n: n / by, d: d / by };
}

export const plus = (a, b) => fraction(a.n * b.d + b.n * a.d, a.d * b.d);
export const times = (a, b) => fraction(a.n * b.n, a.d * b.d);
export const atMost = (a, b) => a.n * b.d <= b.n * a.d;
export const fractionText = ({ n, d }) => (d === 1n ? String(n) : `${n}/${d}`);

// An exact number that was sent as a text, as "1/3", "2" or "0.5"; positive, or else refused.
export function positiveFraction(text, what) {
  const met = typeof text === "string" ? /^(\d{1,400})(?:\.(\d{1,400})|\/(\d{1,400}))?$/.exec(text) : null;
  if (met !== null) {
    const [, whole, decimals, below] = met;
    const n = BigInt(whole + (decimals ?? ""));
    const d = below === undefined ? 10n ** BigInt((decimals ?? "").length) : BigInt(below);
    if (n > 0n && d > 0n) return fraction(n, d);
  }
  throw new Refusal("form", `${what} is a positive exact number as a text, like "1/3"`);
}

const parts = new DataView(new ArrayBuffer(8));

// A finite float as mantissa·2^exponent.
export function binary(x) {
  parts.setFloat64(0, x);
  const bits = parts.getBigUint64(0);
  const power = Number((bits >> 52n) & 0x7ffn);
  const digits = bits & 0xfffffffffffffn;
  const mantissa = power === 0 ? digits : digits | (1n << 52n);
  return { mantissa: bits >> 63n ? -mantissa : mantissa, exponent: (power || 1) - 1075 };
}

// 2^exponent as a float, exactly; an engine's own power may be off by a bit.
export function powerOfTwo(exponent) {
  if (exponent > 1023) return Infinity;
  if (exponent < -1022) return exponent < -1074 ? 0 : powerOfTwo(exponent + 100) * powerOfTwo(-100);
  parts.setBigUint64(0, BigInt(exponent + 1023) << 52n);
  return parts.getFloat64(0);
}

// e with 2^(e − 1) ≤ |x| < 2^e, as C's frexp; 0 for 0.
export function binaryExponent(x) {
  const { mantissa, exponent } = binary(x);
  return mantissa === 0n ? 0 : bitLength(mantissa) + exponent;
}

export function shifted(n, by) {
  return by >= 0 ? n << BigInt(by) : n >> BigInt(-by);
}

export function fractionOfFloat(x) {
  const { mantissa, exponent } = binary(x);
  return exponent >= 0 ? fraction(mantissa << BigInt(exponent)) : fraction(mantissa, 1n << BigInt(-exponent));
}

// A number of a form as Python reads it: whole numbers exactly, others as floats.
export function exactly(numeral) {
  if (!(numeral instanceof Numeral)) throw new Refusal("form", "a number is needed here");
  return numeral.whole ? fraction(BigInt(numeral.text)) : fractionOfFloat(numeral.value);
}

// A whole number of a form within bounds.
export function wholeNumber(numeral, what, low, high) {
  const value = numeral instanceof Numeral && numeral.whole ? Number(numeral.text) : NaN;
  if (!(value >= low && value <= high)) {
    throw new Refusal("form", `${what} is a whole number from ${low} to ${high}`);
  }
  return value;
}

// A number in steps of 2^-bits, towards zero; and the next whole number of steps that is not below it.
export function truncatedTo({ n, d }, bits) {
  return bits >= 0 ? (n << BigInt(bits)) / d : n / (d << BigInt(-bits));
}

export function raisedTo(number, bits) {
  const down = truncatedTo(number, bits);
  const exact =
    bits >= 0
      ? down * number.d === number.n << BigInt(bits)
      : (down * number.d) << BigInt(-bits) === number.n;
  return exact || number.n < 0n ? down : down + 1n;
}

export function rootDown(n) {
  if (n < 2n) return n;
  let x = 1n << BigInt((bitLength(n) + 1) >> 1);
  for (;;) {
    const next = (x + n / x) >> 1n;
    if (next >= x) return x;
    x = next;
  }
}

export const rootUp = (n) => (n > 0n ? rootDown(n - 1n) + 1n : 0n);

// Whole numbers [low, high] with low ≤ 2^bits·e^x ≤ high, for a fraction x ≥ 0. Every step is rounded down
// for the one and up for the other; e^x is e^(x/2^k), whose series is short, squared k times.
export function powerBounds(x, bits) {
  const halvings = bitLength(x.n / x.d) + 8;
  const working = BigInt(bits + 2 * halvings + 64 + 2 * Number(x.n / x.d));
  const one = 1n << working;
  const up = (n, d) => (n + d - 1n) / d;
  const below = x.d << BigInt(halvings);
  let [low, high, termLow, termHigh] = [one, one, one, one];
  for (let i = 1n; termHigh > 1n; i += 1n) {
    termLow = (termLow * x.n) / (below * i);
    termHigh = up(termHigh * x.n, below * i);
    low += termLow;
    high += termHigh;
  }
  // What is left of the series is less than its last term, because each term is less than half of the one before.
  high += termHigh + 1n;
  for (let i = 0; i < halvings; i += 1) {
    low = (low * low) >> working;
    high = up(high * high, one);
  }
  const drop = working - BigInt(bits);
  return [low >> drop, up(high, 1n << drop)];
}
