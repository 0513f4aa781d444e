// Which language the page speaks, and its texts.

import { element } from "./dom.js";
import { WORDS } from "./words.js";

const KEPT = "sulq-language";

function kept() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

export class Language {
  // among: the languages to choose from; changed: what to do when another one is chosen.
  constructor(among, changed) {
    this.among = among;
    this.changed = changed;
    const wanted = [kept(), ...navigator.languages.flatMap((each) => [each, each.split("-")[0]])];
    this.name = wanted.find((each) => among.includes(each)) ?? among[0];
    this.apply();
  }

  // A text of the page itself, with names in braces filled in.
  say(word, values = {}) {
    const text = (WORDS[this.name] ?? {})[word] ?? WORDS.en[word];
    return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  }

  // A text that a survey brings, in this language or else in the first that it has.
  of(texts) {
    return texts?.[this.name] ?? Object.values(texts ?? {})[0] ?? "";
  }

  number(value, digits = 3) {
    return new Intl.NumberFormat(this.name, { maximumSignificantDigits: digits }).format(value);
  }

  choose(name) {
    this.name = name;
    try {
      localStorage.setItem(KEPT, name);
    } catch {
      // It is asked for again next time.
    }
    this.apply();
    this.changed();
  }

  apply() {
    document.documentElement.lang = this.name;
    for (const place of document.querySelectorAll("[data-words]"))
      place.textContent = this.say(place.dataset.words);
    const place = document.getElementById("languages");
    const chosen = document.activeElement?.dataset?.language;
    place.hidden = this.among.length < 2;
    place.setAttribute("aria-label", this.say("language"));
    place.replaceChildren(
      ...this.among.map((name) =>
        element(
          "button",
          {
            type: "button",
            lang: name,
            "data-language": name,
            "aria-pressed": String(name === this.name),
            onclick: () => this.choose(name),
          },
          WORDS[name]?.name ?? name,
        ),
      ),
    );
    if (chosen) place.querySelector(`[data-language="${chosen}"]`)?.focus();
  }
}
