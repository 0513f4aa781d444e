// What a person's reports have cost, and the reports themselves, as plain data that storage keeps.
// A record is {ceiling, spent, memo, rounds}: fractions are texts, memo holds each item's report for ever.

import { Refusal } from "./json.js";
import { atMost, fraction, fractionText, plus, positiveFraction } from "./rational.js";

const NOTHING = fraction(0n);
const spentOf = (record) =>
  record.spent === "0" ? NOTHING : positiveFraction(record.spent, "what was spent");

// A record as it was kept, or the first one. The ε that was seen first stays the ceiling, whatever a survey says later.
export function recordOf(kept, epsilon) {
  if (kept !== null) return kept;
  return {
    ledger: 1,
    ceiling: fractionText(positiveFraction(epsilon, "a survey's epsilon")),
    spent: "0",
    memo: {},
    rounds: {},
  };
}

// A record in which all these items have reports. What was reported before costs nothing and stays as it was. What
// was not is charged first and drawn after; beyond the ceiling all of it is refused, and the record stays unchanged.
export function reported(record, items, draw) {
  const memo = { ...record.memo };
  let spent = spentOf(record);
  const fresh = [
    ...new Map(items.filter((item) => memo[item.key] === undefined).map((item) => [item.key, item])).values(),
  ];
  for (const item of fresh) spent = plus(spent, item.epsilon);
  if (!atMost(spent, positiveFraction(record.ceiling, "the ceiling"))) {
    throw new Refusal("budget", "the answer would cost more than your device still allows for this survey");
  }
  for (const item of fresh) memo[item.key] = draw(item);
  return { ...record, spent: fractionText(spent), memo };
}

// What all these records have spent together: whoever asks under another name gets no ε that nobody adds up.
export function spentTogether(records) {
  return records.filter((record) => record.ledger === 1).map(spentOf).reduce(plus, NOTHING);
}

// What is left of a record's ε, as a fraction.
export function leftOf(record) {
  return plus(positiveFraction(record.ceiling, "the ceiling"), {
    n: -spentOf(record).n,
    d: spentOf(record).d,
  });
}
