// What a date says: its year, its month, its weekday, and how many years it is to a public day.

import { Refusal } from "./json.js";
import { codeFacts, numberFacts } from "./facts.js";
import { civilFromDays, columnOf, dayOf } from "./schema.js";
import { define } from "./expressions.js";

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

function dateColumn(node, schema) {
  const kind = node.inner.is === "column" ? columnOf(schema, node.inner.column) : null;
  if (kind?.type !== "date") throw new Refusal("range", "this is not a column of dates");
  return kind;
}

define(
  "date part",
  { single: ["inner"], plain: ["part"] },
  (node, schema) => {
    const kind = dateColumn(node, schema);
    if (node.part === "weekday") return codeFacts(7, WEEKDAYS);
    const ends =
      node.part === "year" ? [kind.first, kind.last].map((day) => civilFromDays(day).year) : [1, 12];
    return numberFacts(0, [BigInt(ends[0])], [BigInt(ends[1])], false);
  },
  (node, row) => {
    const day = dateColumn(node, row.schema).first + Number(row.number(node.inner)[0]);
    return node.part === "weekday" ? (((day + 3) % 7) + 7) % 7 : [BigInt(civilFromDays(day)[node.part])];
  },
  ({ part }) => {
    if (!["year", "month", "weekday"].includes(part))
      throw new Refusal("form", "a date has a year, a month and a weekday");
  },
);

// The whole years from one day to another, as ages are counted.
function yearsBetween(from, to) {
  const [then, now] = [from, to].map(civilFromDays);
  const later = then.month * 31 + then.day > now.month * 31 + now.day;
  return BigInt(now.year - then.year - (later ? 1 : 0));
}

define(
  "years at",
  { single: ["inner"], plain: ["day"] },
  (node, schema) => {
    const { first, last } = dateColumn(node, schema);
    return numberFacts(0, [yearsBetween(last, node.to)], [yearsBetween(first, node.to)], false);
  },
  (node, row) => [
    yearsBetween(dateColumn(node, row.schema).first + Number(row.number(node.inner)[0]), node.to),
  ],
  (node) => {
    node.to = dayOf(node.day);
    if (node.to === null) throw new Refusal("form", "a day is written as 2024-01-31");
  },
);
