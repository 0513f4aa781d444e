// What the search of the site needs beyond its theme. Search runs in a worker, and a message of type 2 is a query.

// Words that would find every page; and "--epsilon" is about epsilon, not about all pages without it.
const SMALL = new Set("a an and are as at by do for from how i in is it of on or that the this to what with".split(" "));

function query(text) {
  const words = text.split(/\s+/).map((word) => word.replace(/^-+/, "")).filter(Boolean);
  const telling = words.filter((word) => !SMALL.has(word.toLowerCase()));
  return (telling.length ? telling : words).join(" ");
}

function worded(message) {
  return message.type === 2 && typeof message.data === "string" ? { ...message, data: query(message.data) } : message;
}

function load(frame, address) {
  return new Promise((resolve, reject) => {
    const script = frame.document.createElement("script");
    script.src = address;
    script.onload = resolve;
    script.onerror = reject;
    frame.document.body.append(script);
  });
}

// Browsers allow no worker to pages that are read without a server: its script runs in an empty frame instead.
class FrameWorker extends EventTarget {
  constructor(address) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    const inside = this.frame.contentWindow;
    inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    inside.importScripts = (...addresses) =>
      addresses.reduce((before, each) => before.then(() => load(inside, each)), Promise.resolve());
    this.ready = load(inside, new URL(address, location.href).href);
  }

  postMessage(data) {
    this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
  }

  terminate() {
    this.frame.remove();
  }
}

window.Worker = class extends (location.protocol === "file:" ? FrameWorker : Worker) {
  postMessage(message) {
    super.postMessage(worded(message));
  }
};
