// A worker for pages that are read without a server (file://), where browsers allow none: the script of the
// worker runs in an empty frame of the page instead. The search of the site needs no more than this.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame;
      const inside = frame.contentWindow;
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
  };

  function load(frame, address) {
    return new Promise((resolve, reject) => {
      const script = frame.document.createElement("script");
      script.src = address;
      script.onload = resolve;
      script.onerror = reject;
      frame.document.body.append(script);
    });
  }
}
