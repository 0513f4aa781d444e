// What a report says and by which odds, in words.

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
  return questions.find((each) => each.name === column || (each.kind === "several-of" && column.startsWith(`${each.name}.`)));
}

// The answer that a report names where it names one: of a single column, by randomized response.
function answerOf(item, number, questions, language) {
  const { randomizer, value, group, condition } = item;
  if (randomizer.is === "response" && value.is === "column") {
    const question = questionOf(questions, value.column);
    const named = question?.kind === "several-of" ? question.choices.find((each) => value.column === `${question.name}.${each.value}`) : null;
    const said = language.say(number === 1 ? "yes" : "no");
    return named ? `${language.of(named.text)}: ${said}` : said;
  }
  if (randomizer.is === "one bit" && value.is === "column") {
    const ends = [randomizer.low, randomizer.high].map((each) => language.number(each));
    return language.say("rather", { one: ends[number], other: ends[1 - number] });
  }
  const column = group?.is === "cross" && group.parts.length === 1 ? group.parts[0] : group;
  if (randomizer.is === "kary" && condition === null && column?.is === "column") {
    const question = questionOf(questions, column.column);
    if (question?.kind === "yes-no") return language.say(number === 1 ? "yes" : "no");
    const chosen = question?.choices?.[number];
    return chosen ? language.of(chosen.text) : null;
  }
  return null;
}

// A chance as people say it: 7 times in 10, or 73 times in 100.
export function often(chance, language) {
  const tenth = Math.round(10 * chance);
  const word = Math.abs(chance - tenth / 10) < 0.015 && tenth < 10 ? ["in_ten", tenth] : ["in_hundred", Math.min(Math.round(100 * chance), 99)];
  return language.say(word[0], { n: word[1] });
}

// A drawn report, told to the person before it is sent.
export function told({ item, report, odds }, questions, language) {
  const [number] = report.numbers;
  const names = [item.value, item.group, item.condition].flatMap((node) => [...columnsIn(node)]);
  const asked = [...new Set(names.map((name) => questionOf(questions, name)).filter(Boolean))].map((each) => language.of(each.text));
  const answer = answerOf(item, number, questions, language);
  const code = Array.isArray(number) ? language.say("codes", { code: number.map((each) => Number(each.toFixed?.(3) ?? each)).join(", ") }) : language.say("code", { code: number });
  const exact = answer !== null && odds.truth !== null;
  return element(
    "li",
    { class: "report" },
    element("h3", {}, language.say("about_questions", { questions: asked.join(" · ") })),
    element("p", { class: "sent" }, language.say("says", { report: answer ?? code })),
    exact ? element("p", {}, language.say("truth_odds", { times: often(odds.truth, language) })) : element("p", {}, language.say("times_odds", { times: language.number(odds.times, 2) })),
  );
}
