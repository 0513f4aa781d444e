// Exact draws by comparing random bytes with whole numbers, in the order in which Python takes the bytes.
// How many bytes are taken depends on the bytes, never on a person's value.

import { bitLength, powerBounds } from "./rational.js";

export const ONE = 1n << 64n;
export const PARTS = 2 ** 53;

// The system's random bytes. A source of bytes is a function that gives so many.
export function systemBytes(count) {
  const bytes = new Uint8Array(count);
  for (let start = 0; start < count; start += 65536) {
    globalThis.crypto.getRandomValues(bytes.subarray(start, Math.min(start + 65536, count)));
  }
  return bytes;
}

// Bytes as whole numbers, the lowest byte first.
export const word32 = (bytes) => bytes[0] + 2 ** 8 * bytes[1] + 2 ** 16 * bytes[2] + 2 ** 24 * bytes[3];

function bigWord(bytes) {
  return (BigInt(word32(bytes.slice(4, 8))) << 32n) | BigInt(word32(bytes));
}

// True with probability threshold·2^-64: the first byte that differs decides.
export function below(threshold, bytes) {
  if (threshold === ONE) return true;
  for (let shift = 56n; shift >= 0n; shift -= 8n) {
    const [drawn] = bytes(1);
    const byte = Number((threshold >> shift) & 255n);
    if (drawn !== byte) return drawn < byte;
  }
  return false;
}

// One of 0, …, size − 1, all equally likely (Lemire, 2019): words that would favour some are drawn anew.
export function uniformBelow(size, bytes) {
  for (;;) {
    const product = BigInt(word32(bytes(4))) * BigInt(size);
    if (Number(product & 0xffffffffn) >= 2 ** 32 % size) return Number(product >> 32n);
  }
}

// One of several outcomes, each with its part of the whole: by the first 16 bits of a uniform number, where no edge
// between two outcomes lies in what they leave open, else by 64, and else by as many as it takes.
export function shares(parts) {
  const ends = [];
  let end = 0n;
  for (const part of parts) ends.push((end += part));
  const [whole, edges] = [end, ends.slice(0, -1)];
  const outcome = (drawn, bits) => {
    const first = countWhile(edges, (i) => edges[i] << bits <= drawn * whole);
    return edges.length > first && edges[first] << bits < (drawn + 1n) * whole ? null : first;
  };
  return (bytes) => {
    const [low, high] = bytes(2);
    let [drawn, bits] = [BigInt(low + 256 * high), 16n];
    if (outcome(drawn, bits) === null) {
      const more = bytes(6);
      [drawn, bits] = [(drawn << 48n) | bigWord(Uint8Array.of(...more, 0, 0)), 64n];
    }
    for (; outcome(drawn, bits) === null; bits += 64n) drawn = (drawn << 64n) | bigWord(bytes(8));
    return outcome(drawn, bits);
  };
}

// Where a number lies on a grid of `steps` steps from low to high, with the roundings of Python's floats.
function stepsAbove(value, low, high, steps) {
  const width = high > low ? high - low : 1;
  const inside = Number.isNaN(value) ? low : Math.min(Math.max(value, low), high);
  return Math.min(((inside - low) / width) * steps, steps);
}

export function position(value, low, high, steps) {
  const at = stepsAbove(value, low, high, steps);
  const base = Math.floor(at);
  return { base, part: (at - base) * PARTS };
}

// The same among uneven marks: whole numbers from 0 on, of which the first is low and the last is high.
export function positionAmong(value, low, high, marks) {
  const at = stepsAbove(value, low, high, marks[marks.length - 1]);
  const base = countWhile(marks, (i) => marks[i] <= at) - 1;
  const gap = base + 1 < marks.length ? marks[base + 1] - marks[base] : 1;
  return { base, part: ((at - marks[base]) / gap) * PARTS };
}

// One of the two grid points around a number, so that the expectation is the number.
export function rounded({ base, part }, bytes) {
  return base + (Number(bigWord(bytes(8)) >> 11n) < Math.trunc(part) ? 1 : 0);
}

// The same law with fewer bits: 16 nearly always tell, and 37 more settle the rest.
export function roundedByLeadingBits({ base, part }, bytes) {
  const [low, high] = bytes(2);
  const [drawn, leading, rest] = [low + 256 * high, Math.floor(part / 2 ** 37), Math.trunc(part) % 2 ** 37];
  const further = drawn === leading ? Number(bigWord(bytes(8)) >> 27n) < rest : drawn < leading;
  return base + (further ? 1 : 0);
}

const patternsOf = new Map();

// Where each of the 256 patterns of eight bits begins on [0, 1), times 2^512, and the first 16 bits of that.
function patterns(threshold) {
  if (!patternsOf.has(threshold)) {
    const edges = [];
    let edge = 0n;
    for (let pattern = 0; pattern < 255; pattern += 1) {
      const ones = BigInt(pattern.toString(2).replaceAll("0", "").length);
      edge += threshold ** ones * (ONE - threshold) ** (8n - ones);
      edges.push(edge);
    }
    const leading = edges.map((each) => Number(each >> 496n));
    const begins = edges.map((each) => (each & ((1n << 496n) - 1n)) === 0n);
    patternsOf.set(threshold, { edges, leading, begins });
  }
  return patternsOf.get(threshold);
}

// How many entries of a list in order the test holds for: it holds for the first ones.
function countWhile(list, test) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

// So many bytes of eight independent bits, each 1 with probability threshold·2^-64.
export function packedBits(threshold, size, bytes) {
  const { edges, leading, begins } = patterns(threshold);
  const drawn = bytes(2 * size);
  const bits = [];
  const undecided = [];
  for (let i = 0; i < size; i += 1) {
    const cell = drawn[2 * i] + 256 * drawn[2 * i + 1];
    const first = countWhile(leading, (j) => leading[j] < cell || (leading[j] === cell && begins[j]));
    const last = countWhile(leading, (j) => leading[j] <= cell);
    if (first !== last) undecided.push([i, cell]);
    bits.push(first);
  }
  const more = bytes(8 * undecided.length);
  const words = undecided.map(
    ([, cell], i) => (BigInt(cell) << 48n) | (bigWord(more.slice(8 * i, 8 * i + 8)) >> 16n),
  );
  // An edge at the very end of [0, 1) stands for patterns of no width; no number reaches it.
  const first64 = (j) => (edges[j] >> 448n < ONE ? edges[j] >> 448n : ONE - 1n);
  undecided.forEach(([place], i) => {
    let settled = countWhile(edges, (j) => first64(j) <= words[i]);
    if (settled > 0 && first64(settled - 1) === words[i]) {
      const rest = [...bytes(56)].reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
      settled = countWhile(edges, (j) => edges[j] <= ((words[i] << 448n) | rest));
    }
    bits[place] = settled;
  });
  return bits;
}

// A coin that comes up heads with the chance heads/(tails + e^exponent), an irrational number whose bytes are worked
// out as far as they are asked for.
export class Coin {
  constructor(heads, tails, exponent) {
    [this.heads, this.tails, this.exponent] = [heads, tails, exponent];
    this.bytes = [];
  }

  // Byte number i of the chance after the binary point: bounds on the power decide it once both say the same.
  byte(i) {
    while (this.bytes.length <= i) {
      const bits = 8 * (this.bytes.length + 1);
      // Then the chance is at most 2·exp(−bits), less than 2^-bits.
      let chance = this.exponent.n >= BigInt(bits) * this.exponent.d ? 0n : null;
      for (let digits = bits + 64; chance === null; digits *= 2) {
        const ends = powerBounds(this.exponent, digits).map(
          (power) => (this.heads << BigInt(bits + digits)) / ((this.tails << BigInt(digits)) + power),
        );
        if (ends[0] === ends[1]) [chance] = ends;
      }
      this.bytes.push(Number(chance & 255n));
    }
    return this.bytes[i];
  }

  toss(bytes) {
    for (let i = 0; ; i += 1) {
      const [drawn] = bytes(1);
      if (drawn !== this.byte(i)) return drawn < this.byte(i);
    }
  }
}

// Pr[k] ∝ exp(−|k|/scale) on the whole numbers: not 0 by a coin, and then 1 + G with a fair sign. The binary digits of
// G, with Pr[G = k] ∝ exp(−k/scale), are coins.
export function discreteLaplace(scale) {
  const places = bitLength((8n * scale.n) / scale.d);
  const over = (power) => ({ n: (1n << BigInt(power)) * scale.d, d: scale.n });
  const digits = Array.from({ length: places }, (_, i) => new Coin(1n, 1n, over(i)));
  const [carry, other] = [new Coin(1n, 0n, over(places)), new Coin(2n, 1n, over(0))];
  return (bytes) => {
    let low = 0n;
    digits.forEach((coin, i) => {
      if (coin.toss(bytes)) low |= 1n << BigInt(i);
    });
    let high = 0n;
    while (carry.toss(bytes)) high += 1n;
    const sign = bytes(1)[0] & 1 ? -1n : 1n;
    return other.toss(bytes) ? sign * (1n + low + (high << BigInt(places))) : 0n;
  };
}
