// What the page gets from the collector, and what it keeps of a person's answers.

// A text that the collector serves.
export async function text(path) {
  const response = await fetch(path, { credentials: "omit", cache: "no-store" });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.text();
}

const nameOf = (survey) => `answers ${survey.id}`;

// A person's answers stay on the device, so that it can answer further rounds; they can be deleted there.
export async function keptAnswers(storage, survey) {
  const kept = await storage.change(nameOf(survey), (record) => ({
    record: record ?? { answers: [] },
    result: record,
  }));
  return kept?.answers.length ? new Map(kept.answers) : null;
}

export function keepAnswers(storage, survey, answers) {
  return storage.change(nameOf(survey), () => ({ record: { answers: [...answers] }, result: null }));
}
