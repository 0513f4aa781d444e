// What a report says and by which odds, in words.

import { choiceOf } from "../device/expressions.js";
import { leftOf } from "../device/ledger.js";
import { element } from "./dom.js";

// The names of the columns that a row expression looks at.
function columnsIn(node, found = new Set()) {
  if (node === null || typeof node !== "object" || !("kind" in node)) return found;
  if (typeof node.column === "string") found.add(node.column);
  for (const field of node.kind.single) columnsIn(node[field], found);
  for (const field of node.kind.several) node[field].forEach((each) => columnsIn(each, found));
  return found;
}

function questionOf(questions, column) {
  return questions.find(
    (each) => each.name === column || (each.kind === "several-of" && column.startsWith(`${each.name}.`)),
  );
}

// What a code of a column stands for.
function levelWords(column, code, questions, language) {
  const question = questionOf(questions, column);
  if (question === undefined) return null;
  if (question.kind === "one-of" || question.kind === "scale")
    return question.choices[code] ? language.of(question.choices[code].text) : null;
  const said = language.say(code === 1 ? "yes" : "no");
  const chosen = question.choices?.find((each) => column === `${question.name}.${each.value}`);
  return chosen ? `${language.of(chosen.text)}: ${said}` : question.kind === "yes-no" ? said : null;
}

// The columns of a choice among combinations of their values; null if it is of anything else.
function crossed(group) {
  const parts = group?.is === "cross" ? group.parts : [group];
  return parts.every((part) => part?.is === "column") ? parts : null;
}

// The answer that a report names, where it names one; a place on a scale, where it names that; or else null.
function answerOf(item, number, questions, language, schema) {
  const { randomizer, value, group, condition } = item;
  if (randomizer.is === "response" && value.is === "column")
    return levelWords(value.column, number, questions, language);
  const ends = [randomizer.low, randomizer.high].map((each) => language.number(each ?? 0));
  if (randomizer.is === "one bit" && value.is === "column")
    return language.say("rather", { one: ends[number], other: ends[1 - number] });
  if ((randomizer.is === "piecewise" || randomizer.is === "window") && value.is === "column")
    return language.say("place", {
      place: number + 1,
      places: randomizer.cells,
      low: ends[0],
      high: ends[1],
    });
  const columns = crossed(group);
  if (randomizer.is !== "kary" || condition !== null || columns === null) return null;
  const names = [];
  let code = number;
  for (const part of [...columns].reverse()) {
    const { size } = choiceOf(part, schema);
    names.unshift(levelWords(part.column, code % size, questions, language));
    code = Math.floor(code / size);
  }
  return names.includes(null) ? null : names.join(" · ");
}

// A chance as people say it: 7 times in 10, or 73 times in 100.
export function often(chance, language) {
  const tenth = Math.round(10 * chance);
  const word =
    Math.abs(chance - tenth / 10) < 0.015 && tenth < 10
      ? ["in_ten", tenth]
      : ["in_hundred", Math.min(Math.round(100 * chance), 99)];
  return language.say(word[0], { n: word[1] });
}

// A drawn report, told to the person before it is sent.
export function told({ item, report, odds }, questions, language, schema) {
  const [number] = report.numbers;
  const names = [item.value, item.group, item.condition].flatMap((node) => [...columnsIn(node)]);
  const asked = [...new Set(names.map((name) => questionOf(questions, name)).filter(Boolean))].map((each) =>
    language.of(each.text),
  );
  const answer = answerOf(item, number, questions, language, schema);
  const code = Array.isArray(number)
    ? language.say("codes", { code: number.map((each) => Number(each.toFixed?.(3) ?? each)).join(", ") })
    : language.say("code", { code: number });
  const exact = answer !== null && odds.truth !== null;
  return element(
    "li",
    { class: "report" },
    element("h3", {}, language.say("about_questions", { questions: asked.join(" · ") })),
    element("p", { class: "sent" }, language.say("says", { report: answer ?? code })),
    exact
      ? element("p", {}, language.say("truth_odds", { times: often(odds.truth, language) }))
      : element("p", {}, language.say("times_odds", { times: language.number(odds.times, 2) })),
  );
}

// What the device may still say in this survey, what it said in others, and what the collector keeps.
export async function budgetWords(device, survey, language) {
  const record = await device.record();
  const number = ({ n, d }) => language.number(Number(n) / Number(d));
  const [all, below] = record.ceiling.split("/").map(Number);
  const elsewhere = await device.spentElsewhere();
  return [
    language.say("left", { left: number(leftOf(record)), all: language.number(all / (below ?? 1)) }),
    elsewhere.n > 0n ? language.say("elsewhere", { spent: number(elsewhere) }) : "",
    language.say(survey.keeps === "tallies" ? "keeps_tallies" : "keeps_reports"),
  ].join(" ");
}
