// Reports on their way: kept before they are sent, sent again until the collector says that they arrived, counted once.

const LATER = [408, 429, 500, 502, 503, 504];

// A name for a post that is nobody's: 144 random bits, so that a post that is sent twice is counted once.
function ownToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

async function posted(body) {
  try {
    const response = await fetch("/reports", {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
    });
    const answer = await response.json().catch(() => ({}));
    return { status: response.status, ...answer };
  } catch {
    return { status: 0 };
  }
}

// Only one tab sends at a time.
const alone = (work) => (navigator.locks ? navigator.locks.request("sulq-survey-sending", work) : work());

// A round whose reports were drawn, with the link that it will be sent by: that of the person, or else a new name.
export function prepared(device, number, invitation) {
  return device.change((record) => {
    const before = record.rounds[number];
    const entry = {
      tries: 0,
      ...before,
      state: "drawn",
      invitation: invitation ?? before.invitation ?? ownToken(),
    };
    return { record: { ...record, rounds: { ...record.rounds, [number]: entry } }, result: entry };
  });
}

// Keep that a round is to be sent; what was sent stays sent.
export function queue(device, number) {
  return device.change((record) => {
    const before = record.rounds[number];
    const entry = before.state === "sent" ? before : { ...before, state: "queued" };
    return { record: { ...record, rounds: { ...record.rounds, [number]: entry } }, result: entry };
  });
}

// Send what is queued. The state that a round is in after it: "sent", "queued", or why it was refused.
export function flush(device) {
  return alone(async () => {
    const { rounds } = await device.record();
    for (const [number, entry] of Object.entries(rounds)) {
      if (entry.state !== "queued") continue;
      const body = await device.sending(Number(number), entry.invitation);
      await device.mark(number, "queued", { tries: entry.tries + 1 });
      const { status, accepted, refused, why } = await posted(body);
      if (status === 0 || LATER.includes(status)) continue;
      // A link that is used after an answer got lost was used by this very report.
      const counted = accepted === true || (refused === "used" && entry.tries > 0);
      await device.mark(
        number,
        counted ? "sent" : "refused",
        counted ? {} : { refused: refused ?? "malformed", why: why ?? String(status) },
      );
    }
    return (await device.record()).rounds;
  });
}
