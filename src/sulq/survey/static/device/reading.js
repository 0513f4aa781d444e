// The numbers in the form of a randomizer, each checked as it is read.

import { Numeral, Refusal } from "./json.js";
import { fraction, wholeNumber } from "./rational.js";
import { ONE } from "./draws.js";

export const MOST_POSSIBILITIES = 2 ** 20;

// A chance in steps of 2^-64.
export function steps(form, name) {
  const text = form.get(name);
  const number = typeof text === "string" && /^\d{1,20}$/.test(text) ? BigInt(text) : 0n;
  if (!(number > 0n && number < ONE))
    throw new Refusal("promise", `${name} is a whole number of steps of 2^-64`);
  return number;
}

export function finite(numeral, what) {
  if (!(numeral instanceof Numeral)) throw new Refusal("form", `${what} is a number`);
  return numeral.value;
}

export function ends(form) {
  const [low, high] = ["low", "high"].map((name) => finite(form.get(name), name));
  if (!(low <= high && Number.isFinite(high - low)))
    throw new Refusal("form", "an interval has finite bounds in order");
  return { low, high };
}

export function box(form) {
  const [lows, highs] = ["lows", "highs"].map((name) => {
    const side = form.get(name);
    if (!Array.isArray(side) || side.length === 0) throw new Refusal("form", `${name} are a list of numbers`);
    return side.map((each) => finite(each, name));
  });
  if (
    lows.length !== highs.length ||
    lows.some((low, i) => !(low <= highs[i] && Number.isFinite(highs[i] - low)))
  ) {
    throw new Refusal("form", "a box has as many lower as upper bounds, finite and in order");
  }
  return { lows, highs };
}

// A ratio or its inverse, whichever is above 1.
export const larger = ({ n, d }) => (n >= d ? fraction(n, d) : fraction(d, n));

export const possibilities = (form) =>
  wholeNumber(form.get("k"), "the number of possibilities", 2, MOST_POSSIBILITIES);
