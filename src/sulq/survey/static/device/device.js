// A person's device: it verifies what it is asked, keeps to the person's ε whoever asks, and sends only reports.

import { Numeral, Refusal, parseJson } from "./json.js";
import { wholeNumber } from "./rational.js";
import { schemaOf } from "./schema.js";
import { itemOf, oddsOf, reportOn } from "./item.js";
import { recordOf, reported, spentTogether } from "./ledger.js";
import { systemBytes, uniformBelow } from "./draws.js";

const MOST_ITEMS = 1000;
// No name of a survey is that of a record of another kind.
const NAME = /^[A-Za-z0-9_-]{1,100}$/;
const MOST_PEOPLE = 2 ** 31 - 1;

function versioned(text, kind, what) {
  const form = parseJson(text);
  const version = form instanceof Map ? form.get(kind) : undefined;
  if (!(version instanceof Numeral) || version.text !== "1")
    throw new Refusal("form", `this is not ${what} of version 1`);
  return form;
}

// A survey and a person's device for it.
export class Device {
  // survey: the text of survey.json; storage: see storage.js; bytes: a source of random bytes.
  constructor(survey, storage, bytes = systemBytes) {
    const form = versioned(survey, "survey", "a survey");
    this.survey = form.get("id");
    if (typeof this.survey !== "string" || !NAME.test(this.survey))
      throw new Refusal("form", "the id of a survey is made of up to 100 letters, digits, - and _");
    this.epsilon = form.get("epsilon");
    this.schema = schemaOf(form.get("schema"));
    this.storage = storage;
    this.bytes = bytes;
  }

  // What is open now, from the text of round.json, with every item verified. No answer is looked at.
  verified(round) {
    const form = versioned(round, "round-open", "a round");
    if (form.get("survey") !== this.survey) throw new Refusal("form", "this round is of another survey");
    const [state, asks, entries] = ["state", "asks", "items"].map((name) => form.get(name));
    if (state !== "open") return { number: null, state, asks, items: [], people: [] };
    if (
      !["all", "one"].includes(asks) ||
      !Array.isArray(entries) ||
      entries.length === 0 ||
      entries.length > MOST_ITEMS
    ) {
      throw new Refusal("form", `a round asks "all" or "one" of its items, at most ${MOST_ITEMS}`);
    }
    const people = entries.map((entry) =>
      wholeNumber(entry instanceof Map ? entry.get("people") : null, "people", 1, MOST_PEOPLE),
    );
    const items = entries.map((entry) => itemOf(entry.get("item"), this.schema));
    return {
      number: wholeNumber(form.get("number"), "the number of a round", 0, 2 ** 53),
      state,
      asks,
      items,
      people,
    };
  }

  // Change the record of this survey. It is kept before this resolves.
  change(how) {
    return this.storage.change(this.survey, (kept) => how(recordOf(kept, this.epsilon)));
  }

  // Whether the person's ε still pays for a verified round, or for one item of it.
  async affords({ items, asks }) {
    const record = await this.record();
    const paid = (some) => {
      try {
        return reported(record, some, () => null) !== null;
      } catch {
        return false;
      }
    };
    return asks === "all" ? paid(items) : items.some((item) => paid([item]));
  }

  // The reports of a verified round on a person's answers, a Map by column: drawn once, and then the same for ever.
  // Without answers (null) there are only the reports that were drawn before.
  async draw(round, answers) {
    return this.change((record) => {
      const before = record.rounds[round.number];
      const chosen = before?.items.map((key) => round.items.find((item) => item.key === key)) ?? [undefined];
      const items = chosen.includes(undefined) ? this.chosen(round) : chosen;
      const next = reported(record, items, (item) => {
        if (answers === null)
          throw new Refusal("answers", "this has to be worked out from answers, and there are none");
        return reportOn(item, this.schema, answers, this.bytes);
      });
      const entry = { state: "drawn", ...before, items: items.map((item) => item.key) };
      const drawn = items.map((item) => ({
        report: next.memo[item.key],
        odds: oddsOf(item.randomizer),
        item,
      }));
      return { record: { ...next, rounds: { ...next.rounds, [round.number]: entry } }, result: drawn };
    });
  }

  // Which items this person reports on: all, or one by lot, with chances in the proportion of people.
  chosen({ items, people, asks }) {
    if (asks === "all") return items;
    const total = people.reduce((sum, each) => sum + each, 0);
    if (total > MOST_PEOPLE) throw new Refusal("form", `a round is for at most ${MOST_PEOPLE} people`);
    let lot = uniformBelow(total, this.bytes);
    return [items[people.findIndex((each) => (lot -= each) < 0)]];
  }

  // Remember how far a round has come: "drawn", "queued", "sent", "withheld" or "refused".
  mark(number, state, more = {}) {
    return this.change((record) => {
      const entry = { ...record.rounds[number], ...more, state };
      return { record: { ...record, rounds: { ...record.rounds, [number]: entry } }, result: entry };
    });
  }

  // The record as it is kept.
  record() {
    return this.change((record) => ({ record, result: record }));
  }

  // What other surveys from the same address were told by this device, as an ε.
  async spentElsewhere() {
    return spentTogether(await this.storage.others(this.survey));
  }

  // The text that is sent for a round whose reports were drawn: nothing else leaves the device.
  async sending(number, invitation) {
    const { memo, rounds } = await this.record();
    const reports = rounds[number].items.map((key) => memo[key]);
    return JSON.stringify({ "reports-sent": 1, survey: this.survey, round: number, invitation, reports });
  }
}
