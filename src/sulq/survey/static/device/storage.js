// Where records are kept. A storage has two methods. others(key) resolves to all other records. change(key, how) gives the record of that key, or null, to `how`,
// keeps what `how` returns as `record`, and resolves to its `result` only once that is kept. Changes of one record
// never overlap, not even those of two tabs, and a `how` that throws changes nothing.

// In memory, for tests and for browsers that keep nothing.
export class MemoryStorage {
  constructor() {
    this.records = new Map();
  }

  async change(key, how) {
    const { record, result } = how(this.records.has(key) ? JSON.parse(this.records.get(key)) : null);
    this.records.set(key, JSON.stringify(record));
    return result;
  }

  async others(key) {
    return [...this.records].filter(([name]) => name !== key).map(([, record]) => JSON.parse(record));
  }
}

const STORE = "records";

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

// In the browser's database: transactions that write to one store run one after another, across all tabs.
export class BrowserStorage {
  static async open(name = "sulq-survey", factory = globalThis.indexedDB) {
    const request = factory.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    return new BrowserStorage(await settled(request));
  }

  constructor(database) {
    this.database = database;
  }

  change(key, how) {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(STORE, "readwrite", { durability: "strict" });
      const store = transaction.objectStore(STORE);
      let [result, failure] = [undefined, null];
      store.get(key).onsuccess = ({ target }) => {
        try {
          const changed = how(target.result ?? null);
          result = changed.result;
          store.put(changed.record, key);
        } catch (error) {
          failure = error;
          transaction.abort();
        }
      };
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(failure ?? transaction.error);
    });
  }

  async others(key) {
    const store = this.database.transaction(STORE).objectStore(STORE);
    const [names, records] = await Promise.all([settled(store.getAllKeys()), settled(store.getAll())]);
    return records.filter((_, i) => names[i] !== key);
  }
}
