// Cyclic difference sets: sulq/local/difference_sets.py has the reasons. The recurrences are the same.

import { Refusal } from "./json.js";

const MOST_RESIDUES = 2 ** 14;
const RECURRENCES = {
  3: {
    3: [2, 1, 0],
    4: [1, 1, 0, 0],
    5: [2, 1, 0, 0, 0],
    6: [1, 1, 0, 0, 0, 0],
    7: [2, 0, 1, 0, 0, 0, 0],
    8: [1, 0, 0, 1, 0, 0, 0, 0],
    9: [2, 1, 1, 1, 0, 0, 0, 0, 0],
  },
  4: { 3: [2, 1, 1], 4: [3, 2, 1, 0], 5: [2, 1, 0, 0, 0], 6: [2, 1, 1, 0, 0, 0], 7: [3, 2, 1, 0, 0, 0, 0] },
  5: { 3: [2, 1, 0], 4: [2, 1, 1, 0], 5: [2, 1, 0, 0, 0], 6: [3, 1, 0, 0, 0, 0] },
  7: { 3: [5, 1, 0], 4: [4, 1, 1, 0], 5: [3, 1, 0, 0, 0] },
  11: { 3: [7, 1, 0], 4: [9, 1, 0, 0] },
  13: { 3: [6, 2, 0], 4: [6, 2, 1, 0] },
  17: { 3: [3, 1, 0], 4: [6, 1, 0, 0] },
  29: { 3: [3, 1, 0] },
  53: { 3: [8, 1, 0] },
};
const FOUR = [
  [0, 0, 0, 0],
  [0, 1, 2, 3],
  [0, 2, 3, 1],
  [0, 3, 1, 2],
];

function powers(q, residues) {
  const members = new Set();
  for (let x = 1; x < residues; x += 1) {
    const square = (x * x) % residues;
    members.add(q === 2 ? square : (square * square) % residues);
  }
  return [...members].sort((a, b) => a - b);
}

function zeros(q, t, residues) {
  const coefficients = RECURRENCES[q][t];
  const terms = [...Array(t - 1).fill(0), 1];
  while (terms.length < residues) {
    const last = terms.slice(-t);
    terms.push(
      q === 4
        ? coefficients.reduce((sum, c, i) => sum ^ FOUR[c][last[i]], 0)
        : coefficients.reduce((sum, c, i) => sum + c * last[i], 0) % q,
    );
  }
  return terms.flatMap((term, place) => (term === 0 ? [place] : []));
}

const known = new Map();

// The residues of a difference set, and then all others. A size that is none's is refused: blocks of another
// size than the stated one would break the promise.
export function blockTable({ residues, block, q, t }) {
  const name = [residues, block, q, t].join(" ");
  if (!known.has(name)) {
    const singer = t !== 0 && RECURRENCES[q]?.[t] !== undefined && residues === (q ** t - 1) / (q - 1);
    const ofPowers = t === 0 && (q === 2 || q === 4) && residues <= MOST_RESIDUES;
    const members = singer ? zeros(q, t, residues) : ofPowers ? powers(q, residues) : [];
    if (members.length !== block || block < 1 || block >= residues)
      throw new Refusal("promise", "there is no design of this size");
    const inside = new Set(members);
    const others = Array.from({ length: residues }, (_, i) => i).filter((i) => !inside.has(i));
    known.set(name, [...members, ...others]);
  }
  return known.get(name);
}
