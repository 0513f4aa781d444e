// SHA-256 (FIPS 180-4) at once: the browser's own can only be waited for, and not where a page is not secure.

function primes(count) {
  const found = [];
  for (let n = 2; found.length < count; n += 1) {
    if (found.every((prime) => n % prime !== 0)) found.push(n);
  }
  return found;
}

// The first 32 bits of the fraction of a root: the whole root of a number with enough zeros behind it.
function rootBits(prime, power) {
  const scaled = BigInt(prime) << BigInt(32 * power);
  let low = 0n;
  let high = 1n << 40n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** BigInt(power) <= scaled) low = middle;
    else high = middle;
  }
  return Number(low & 0xffffffffn);
}

const ROUND_WORDS = primes(64).map((prime) => rootBits(prime, 3));
const FIRST_WORDS = primes(8).map((prime) => rootBits(prime, 2));
const turned = (word, by) => (word >>> by) | (word << (32 - by));

// The bytes of a text in UTF-8.
export function utf8(text) {
  const bytes = [];
  for (const letter of text) {
    const code = letter.codePointAt(0);
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else {
      bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63));
      bytes.push(0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
  }
  return bytes;
}

// The 32 bytes of the hash of some bytes.
export function sha256(bytes) {
  const padded = new Uint8Array(((bytes.length + 8) >> 6) * 64 + 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  const state = [...FIRST_WORDS];
  const words = new Uint32Array(64);
  for (let start = 0; start < padded.length; start += 64) {
    for (let i = 0; i < 16; i += 1) words[i] = view.getUint32(start + 4 * i);
    for (let i = 16; i < 64; i += 1) {
      const [early, late] = [words[i - 15], words[i - 2]];
      const mixed = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
      words[i] = words[i - 16] + mixed + words[i - 7] + (turned(late, 17) ^ turned(late, 19) ^ (late >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i += 1) {
      const chosen = (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g));
      const first = (h + chosen + ROUND_WORDS[i] + words[i]) | 0;
      const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => {
      state[i] = (state[i] + word) >>> 0;
    });
  }
  return state.flatMap((word) => [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255]);
}

// The hash of a text in hexadecimal, as sulq.wire.digest writes it.
export const digest = (text) =>
  sha256(utf8(text))
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
