// "How this protects you": the coins that the device tosses, to try out. They are the device's own.

import { ONE, below, systemBytes } from "../device/draws.js";
import { fraction, powerBounds } from "../device/rational.js";
import { drawing, element, show } from "./dom.js";
import { Language } from "./language.js";
import { WORDS } from "./words.js";

const view = document.getElementById("view");
const [DRAWS, PEOPLE, SHARE, BITS] = [100, 2000, 0.3, 128];
const state = { tenths: 10, draws: null, estimate: null };
const language = new Language(Object.keys(WORDS), () => render());
const say = (word, values) => language.say(word, values);

// How often the device lies, in steps of 2^-64, rounded up as the library does: 1/(1 + e^ε).
function liesFor(tenths) {
  const [power] = powerBounds(fraction(BigInt(tenths), 10n), BITS);
  const total = (1n << BigInt(BITS)) + power;
  return ((ONE << BigInt(BITS)) + total - 1n) / total;
}

// A draw for each of several true answers.
const drawn = (truths) => truths.map((truth) => truth !== below(liesFor(state.tenths), systemBytes));

function dots() {
  const draws = state.draws ?? [];
  const real = draws.filter(Boolean).length;
  const label = say("p_dots", { real, other: draws.length - real });
  const marks = Array.from({ length: DRAWS }, (_, i) => {
    const place = { cx: 12 + 24 * (i % 20), cy: 12 + 24 * Math.floor(i / 20), r: 8 };
    return drawing("circle", {
      ...place,
      class: draws[i] === undefined ? "none" : draws[i] ? "real" : "other",
    });
  });
  const shownMarks = marks.filter((mark) => mark.getAttribute("class") !== "none");
  return [
    drawing("svg", { viewBox: "0 0 480 120", role: "img", "aria-label": label }, ...shownMarks),
    element("p", { "aria-live": "polite", id: "drawn" }, state.draws === null ? "" : label),
  ];
}

function scale() {
  const at = (share) => 20 + 440 * share;
  const parts = [drawing("line", { x1: at(0), x2: at(1), y1: 50, y2: 50, class: "axis" })];
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const label = drawing("text", { x: at(share), y: 70, "text-anchor": "middle" });
    label.textContent = String(100 * share);
    parts.push(drawing("line", { x1: at(share), x2: at(share), y1: 46, y2: 54, class: "axis" }), label);
  }
  parts.push(drawing("line", { x1: at(SHARE), x2: at(SHARE), y1: 18, y2: 58, class: "truth" }));
  let text = "";
  if (state.estimate !== null) {
    const { estimate, radius } = state.estimate;
    const within = (share) => at(Math.min(Math.max(share, 0), 1));
    parts.push(
      drawing("line", {
        x1: within(estimate - radius),
        x2: within(estimate + radius),
        y1: 36,
        y2: 36,
        class: "estimate",
      }),
    );
    parts.push(drawing("circle", { cx: within(estimate), cy: 36, r: 7, class: "real" }));
    text = say("p_crowd_result", {
      estimate: language.number(100 * estimate),
      radius: language.number(100 * radius, 2),
    });
  }
  return [
    drawing("svg", { viewBox: "0 0 480 80", role: "img", "aria-label": text }, ...parts),
    element("p", { "aria-live": "polite", id: "estimated" }, text),
  ];
}

function ask() {
  const truths = Array.from({ length: PEOPLE }, (_, i) => i < SHARE * PEOPLE);
  const yes = drawn(truths).filter(Boolean).length / PEOPLE;
  const lie = Number(liesFor(state.tenths)) / 2 ** 64;
  // Two standard deviations of the coins.
  const radius = (2 * Math.sqrt((lie * (1 - lie)) / PEOPLE)) / (1 - 2 * lie);
  state.estimate = { estimate: (yes - lie) / (1 - 2 * lie), radius };
}

function odds() {
  const lie = Number(liesFor(state.tenths)) / 2 ** 64;
  const values = {
    epsilon: language.number(state.tenths / 10),
    n: language.number(100 * (1 - lie), 3),
    times: language.number((1 - lie) / lie, 3),
  };
  return say("p_odds", values);
}

function render() {
  document.title = say("how");
  const pictures = element("div", {}, ...dots());
  const crowd = element("div", {}, ...scale());
  const words = element("p", { id: "odds", "aria-live": "polite" }, odds());
  const slide = element("input", {
    type: "range",
    id: "epsilon",
    min: 1,
    max: 50,
    value: state.tenths,
    "aria-valuetext": `ε = ${language.number(state.tenths / 10)}`,
    oninput: (event) => {
      state.tenths = Number(event.target.value);
      [state.draws, state.estimate] = [null, null];
      event.target.setAttribute("aria-valuetext", `ε = ${language.number(state.tenths / 10)}`);
      words.textContent = odds();
      show(pictures, ...dots());
      show(crowd, ...scale());
    },
  });
  const draw = () => {
    state.draws = drawn(Array(DRAWS).fill(true));
    show(pictures, ...dots());
  };
  const askAll = () => {
    ask();
    show(crowd, ...scale());
  };
  const button = (word, onclick) =>
    element(
      "div",
      { class: "buttons" },
      element("button", { type: "button", class: "main", onclick }, say(word)),
    );
  const paragraphs = ["p_device_1", "p_device_2", "p_device_3", "p_device_4"].map((word) =>
    element("li", {}, say(word)),
  );
  show(
    view,
    element("p", {}, say("p_intro")),
    element("h2", {}, say("p_try")),
    element("p", {}, say("p_truth")),
    element("label", { for: "epsilon" }, say("p_epsilon")),
    slide,
    words,
    button("p_draw", draw),
    pictures,
    element("p", {}, say("p_once")),
    element("h2", {}, say("p_crowd")),
    element("p", {}, say("p_crowd_text")),
    button("p_crowd_draw", askAll),
    crowd,
    element("h2", {}, say("p_device")),
    element("ul", {}, ...paragraphs),
    element("h2", {}, say("p_not")),
    element("p", {}, say("p_not_text")),
  );
}

document.getElementById("back").href = `/${location.hash}`;
render();
