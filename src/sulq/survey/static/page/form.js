// The questions as fields, and a person's answers by column.

import { element } from "./dom.js";

const MANY = 12;

const idOf = (question, part) => `q-${question.name}-${part}`;

function choice(question, type, value, text, answers, column) {
  const id = idOf(question, `choice-${value}`);
  const checked = type === "checkbox" ? answers.get(column) === true : answers.get(column) === value;
  return element(
    "label",
    { class: "choice", for: id },
    element("input", { type, id, name: `q-${column}`, value: String(value), checked }),
    element("span", {}, text),
  );
}

function fieldsOf(question, language, answers) {
  const { name, kind } = question;
  const text = (each) => language.of(each.text);
  if (kind === "yes-no")
    return [
      choice(question, "radio", true, language.say("yes"), answers, name),
      choice(question, "radio", false, language.say("no"), answers, name),
    ];
  if (kind === "several-of")
    return question.choices.map((each) =>
      choice(question, "checkbox", each.value, text(each), answers, `${name}.${each.value}`),
    );
  if (kind === "number") {
    const { low, high, step, unit } = question;
    const input = element("input", {
      type: "number",
      id: idOf(question, "number"),
      min: low,
      max: high,
      step: step ?? (Number.isInteger(low) && Number.isInteger(high) ? 1 : "any"),
      inputmode: Number.isInteger(low) && Number.isInteger(high) && low >= 0 ? "numeric" : "decimal",
      value: answers.get(name) ?? null,
      "aria-label": language.of(question.text),
    });
    const range = element(
      "p",
      { class: "help", id: idOf(question, "range") },
      language.say("from_to", { low, high }),
    );
    return [range, element("div", { class: "number" }, input, unit ? element("span", {}, unit) : null)];
  }
  if (question.choices.length <= MANY)
    return question.choices.map((each) => choice(question, "radio", each.value, text(each), answers, name));
  const options = question.choices.map((each) =>
    element("option", { value: each.value, selected: answers.get(name) === each.value }, text(each)),
  );
  return [
    element(
      "select",
      { id: idOf(question, "select"), "aria-label": language.of(question.text) },
      element("option", { value: "" }, language.say("choose")),
      ...options,
    ),
  ];
}

// One question as a group of fields.
export function fieldset(question, language, answers) {
  const [help, wrong] = [idOf(question, "help"), idOf(question, "wrong")];
  const described = [
    question.help ? help : null,
    question.kind === "number" ? idOf(question, "range") : null,
    wrong,
  ]
    .filter(Boolean)
    .join(" ");
  return element(
    "fieldset",
    { id: idOf(question, "group"), "aria-describedby": described, tabindex: "-1" },
    element("legend", {}, language.of(question.text)),
    question.help ? element("p", { class: "help", id: help }, language.of(question.help)) : element("div"),
    ...fieldsOf(question, language, answers),
    element("p", { class: "wrong", id: wrong, hidden: true }),
  );
}

// What a person has answered to a question: [column, answer] pairs, or what is wrong with it.
function answered(question, form, language) {
  const group = form.querySelector(`#${CSS.escape(idOf(question, "group"))}`);
  const { name, kind, low, high } = question;
  if (kind === "several-of") {
    return {
      pairs: [...group.querySelectorAll("input")].map((box, i) => [
        `${name}.${question.choices[i].value}`,
        box.checked,
      ]),
    };
  }
  if (kind === "number") {
    const value = group.querySelector("input").valueAsNumber;
    if (!(value >= low && value <= high)) return { wrong: language.say("out_of_range", { low, high }) };
    return { pairs: [[name, value]] };
  }
  const chosen = group.querySelector("select")?.value || group.querySelector("input:checked")?.value;
  if (chosen === undefined) return { wrong: language.say("missing") };
  return { pairs: [[name, kind === "yes-no" ? chosen === "true" : chosen]] };
}

// All answers by column; null if some are wrong, which is then said beside them.
export function read(questions, form, language) {
  const answers = new Map();
  let first = null;
  for (const question of questions) {
    const { pairs, wrong } = answered(question, form, language);
    const place = form.querySelector(`#${CSS.escape(idOf(question, "wrong"))}`);
    place.hidden = wrong === undefined;
    place.textContent = wrong ?? "";
    const group = form.querySelector(`#${CSS.escape(idOf(question, "group"))}`);
    for (const input of group.querySelectorAll("input, select"))
      input.setAttribute("aria-invalid", String(wrong !== undefined));
    if (wrong !== undefined) first ??= group;
    for (const [column, answer] of pairs ?? []) answers.set(column, answer);
  }
  first?.querySelector("input, select").focus();
  return first === null ? answers : null;
}

// What was filled in so far, right or wrong, for when the form is shown anew in another language.
export function filled(questions, form, language) {
  return new Map(questions.flatMap((question) => answered(question, form, language).pairs ?? []));
}
