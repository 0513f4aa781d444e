// The page without a connection: what was loaded once is kept, and asked for anew whenever there is a connection.
// Reports are not its matter: they are kept and sent by the page.

const CACHE = "sulq-survey";
const FILES = [
  "/",
  "/protects",
  "/survey.json",
  "/round.json",
  ...[
    "choice_nodes",
    "date_nodes",
    "designs",
    "directions",
    "device",
    "draws",
    "expressions",
    "facts",
    "item",
    "json",
    "ledger",
    "nodes",
  ].map((name) => `/static/device/${name}.js`),
  ...[
    "product_nodes",
    "randomizers",
    "rational",
    "reading",
    "schema",
    "sha256",
    "storage",
    "vector_nodes",
  ].map((name) => `/static/device/${name}.js`),
  ...[
    "dom",
    "form",
    "kept",
    "language",
    "page",
    "protects",
    "sending",
    "told",
    "words",
    "words_de",
    "words_es",
    "words_fr",
  ].map((name) => `/static/page/${name}.js`),
  ...["icon.svg", "style.css", "survey.webmanifest"].map((name) => `/static/page/${name}`),
];

async function keptAll() {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES.map((file) => new Request(file, { cache: "no-store", credentials: "omit" })));
  await self.skipWaiting();
}

async function newest(request) {
  const cache = await caches.open(CACHE);
  const path = new URL(request.url).pathname;
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(path, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(path);
    if (kept === undefined) throw error;
    return kept;
  }
}

self.addEventListener("install", (event) => event.waitUntil(keptAll()));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method === "GET" && url.origin === self.location.origin && FILES.includes(url.pathname))
    event.respondWith(newest(event.request));
});
