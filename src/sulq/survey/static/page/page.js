// The survey's page: a person answers, sees what their device will send and by which odds, and sends it or does not.

import { Device } from "../device/device.js";
import { BrowserStorage } from "../device/storage.js";
import { element, show } from "./dom.js";
import { fieldset, filled, read } from "./form.js";
import { keepAnswers, keptAnswers, text } from "./kept.js";
import { Language } from "./language.js";
import { flush, prepared, queue } from "./sending.js";
import { budgetWords, told } from "./told.js";

const [view, status] = ["view", "status"].map((id) => document.getElementById(id));
// Seconds: between two looks at what is open at least, before what is queued is tried again, and at most.
const [SOONEST, SOON, RAREST, DAY] = [2, 2, 60, 86400];
const state = {
  survey: null,
  device: null,
  storage: null,
  round: null,
  language: null,
  answers: null,
  drawn: null,
  shown: null,
  poll: 60,
  queued: false,
  resending: null,
};

const say = (word, values) => state.language.say(word, values);
const invitation = () => decodeURIComponent(location.hash.slice(1)) || null;

function heading(word) {
  return element("h2", { tabindex: "-1" }, say(word));
}

function present(...children) {
  show(view, ...children);
  view.querySelector("h2")?.focus();
}

function notice(word, values = {}, ...more) {
  status.textContent = "";
  present(element("h2", { class: "notice", tabindex: "-1" }, say(word, values)), ...more);
}

function button(word, work, main = false) {
  const pressed = async (event) => {
    event.currentTarget.disabled = true;
    await guarded(work)();
  };
  return element("button", { type: "button", class: main ? "main" : null, onclick: pressed }, say(word));
}

// What goes wrong is said in plain words; what the device refuses has words of its own.
function guarded(work) {
  return async (...given) => {
    try {
      await work(...given);
    } catch (error) {
      if (error.code === "answers") {
        state.shown = questionsView;
        questionsView();
        return;
      }
      const word = error.code === "budget" ? "budget" : error.code ? "unverified" : "unreachable";
      if (word !== "budget") console.info(error.message);
      state.shown = () => notice(word, {}, forgetting());
      state.shown();
    }
    await tellBudget();
  };
}

async function tellBudget() {
  if (state.device === null) return;
  document.getElementById("budget").textContent = await budgetWords(
    state.device,
    state.survey,
    state.language,
  );
}

function forgetting() {
  if (state.answers === null) return null;
  const forget = async () => {
    await keepAnswers(state.storage, state.survey, new Map());
    state.answers = null;
    state.shown = () => notice("forgotten");
    state.shown();
  };
  return element("div", { class: "buttons" }, button("forget", forget));
}

function questionsView() {
  const { survey, language } = state;
  const form = element("form", { novalidate: true });
  const submitted = async (event) => {
    event.preventDefault();
    const answers = read(survey.questions, form, language);
    status.textContent = answers === null ? say("look") : "";
    if (answers === null) return;
    state.answers = answers;
    await keepAnswers(state.storage, survey, answers);
    await draw();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    return guarded(submitted)(event);
  });
  const groups = survey.questions.map((question) => fieldset(question, language, state.answers ?? new Map()));
  form.append(
    element("p", { class: "notice" }, say("local")),
    ...groups,
    element("div", { class: "buttons" }, element("button", { class: "main" }, say("draw"))),
  );
  show(view, form);
  state.before = () => {
    state.answers = filled(survey.questions, form, language);
  };
}

async function draw() {
  state.drawn = await state.device.draw(state.round, state.answers);
  state.entry = await prepared(state.device, state.round.number, invitation());
  state.shown = reviewView;
  await reviewView();
}

async function reviewView() {
  const { survey, language, drawn, round, device, entry } = state;
  const body = await device.sending(round.number, entry.invitation);
  present(
    heading("will_send"),
    element("p", {}, say("not_answers")),
    element(
      "ul",
      { class: "reports" },
      ...drawn.map((each) => told(each, survey.questions, language, device.schema)),
    ),
    element("details", {}, element("summary", {}, say("exactly")), element("pre", { id: "exactly" }, body)),
    element("div", { class: "buttons" }, button("send", send, true), button("withhold", withhold)),
  );
}

async function send() {
  status.textContent = say("sending");
  await queue(state.device, state.round.number);
  await flush(state.device);
  await outcome();
}

async function withhold() {
  await state.device.mark(state.round.number, "withheld");
  await outcome();
}

// What has become of this round.
async function outcome() {
  const { rounds } = await state.device.record();
  const entry = rounds[state.round.number];
  state.queued = entry.state === "queued";
  if (state.queued) state.resending = setTimeout(resend, 1000 * SOON);
  state.shown = () => {
    if (entry.state === "sent") notice("sent", {}, element("p", {}, say("sent_more")), forgetting());
    else if (entry.state === "queued") notice("queued");
    else if (entry.state === "withheld")
      notice("withheld", {}, element("div", { class: "buttons" }, button("send", draw)), forgetting());
    else if (["used", "unknown"].includes(entry.refused)) notice(entry.refused);
    else if (entry.refused === "closed") notice("round_closed");
    else notice("refused", { why: entry.why });
  };
  state.shown();
}

// What to show for the round that is open now.
async function enter() {
  const { round, survey } = state;
  if (round.state !== "open") {
    const { rounds } = await state.device.record();
    const last = Object.values(rounds).some((entry) => entry.state === "sent");
    state.shown = () =>
      notice(last ? "sent" : round.state === "closed" ? "closed" : "waiting", {}, forgetting());
    return state.shown();
  }
  const { rounds } = await state.device.record();
  const entry = rounds[round.number];
  state.answers = await keptAnswers(state.storage, survey);
  // Where one item of many is asked by lot, a link is good for one report in all rounds.
  const done =
    round.asks === "one" && survey.invited && Object.values(rounds).some((each) => each.state === "sent");
  if (done && entry?.state !== "queued") {
    state.shown = () => notice("sent", {}, element("p", {}, say("sent_more")), forgetting());
    return state.shown();
  }
  const otherLink = invitation() !== null && entry?.state === "refused" && invitation() !== entry.invitation;
  if (entry !== undefined && entry.state !== "drawn" && !otherLink) {
    await flush(state.device);
    return outcome();
  }
  if (survey.invited && invitation() === null) {
    state.shown = () => notice("no_link");
    return state.shown();
  }
  if (entry !== undefined) return draw();
  if (!(await state.device.affords(round))) {
    state.shown = () => notice("budget", {}, forgetting());
    return state.shown();
  }
  if (state.answers !== null) {
    state.shown = () =>
      notice(
        "further",
        {},
        element("div", { class: "buttons" }, button("answer_further", draw, true)),
        forgetting(),
      );
    return state.shown();
  }
  state.shown = questionsView;
  return questionsView();
}

// Look whether another round is open. Nothing is changed under the hands of somebody who is about to answer.
async function look() {
  const open = await text("/round.json");
  const { number, state: named, poll } = JSON.parse(open);
  state.poll = poll;
  if (state.round?.number === number && state.round.state === named) return;
  state.round = { number, state: named, items: [] };
  state.round = { ...state.device.verified(open), number };
  await enter();
}

// Try again what is queued: soon at first, then more and more rarely, so that a collector that was away is not overrun.
async function resend(after = SOON) {
  clearTimeout(state.resending);
  const rounds = await flush(state.device);
  const entry = rounds[state.round?.number];
  if (entry?.state === "queued") {
    state.resending = setTimeout(() => resend(Math.min(2 * after, RAREST)), 1000 * after);
  } else if (state.queued && entry !== undefined) await outcome();
  await tellBudget();
}

// Without a connection, what is shown stays, and is looked at again later.
function offline(error) {
  if (error.code !== undefined) throw error;
}

function poll() {
  const later = Math.min(Math.max(Number(state.poll) || RAREST, SOONEST), DAY) * 1000;
  setTimeout(async () => {
    if (state.shown !== questionsView && state.shown !== reviewView && !state.queued)
      await guarded(() => look().catch(offline))();
    poll();
  }, later);
}

async function start() {
  state.language = new Language(["en"], () => {});
  status.textContent = say("loading");
  const survey = await text("/survey.json");
  state.survey = JSON.parse(survey);
  state.language = new Language(state.survey.languages, () => {
    state.before?.();
    describe();
    state.shown?.();
    tellBudget();
  });
  describe();
  try {
    state.storage = await BrowserStorage.open();
  } catch {
    return notice("no_storage");
  }
  navigator.storage?.persist?.();
  state.device = new Device(survey, state.storage);
  status.textContent = "";
  await guarded(look)();
  addEventListener("online", () => resend());
  document.addEventListener("visibilitychange", () => (document.hidden ? null : resend()));
  return poll();
}

function describe() {
  const { survey, language } = state;
  document.title = language.of(survey.title);
  document.getElementById("title").textContent = language.of(survey.title);
  document.getElementById("about").textContent = language.of(survey.about);
  document.getElementById("protects").href = `/protects${location.hash}`;
}

navigator.serviceWorker?.register("/worker.js").catch(() => {});
addEventListener("hashchange", () => location.reload());
start().catch((error) => {
  console.info(error.message);
  notice(error.code ? "unverified" : "unreachable");
});
