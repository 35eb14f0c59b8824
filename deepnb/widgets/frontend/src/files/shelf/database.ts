/** The tables in IndexedDB. */

import { FileError } from "../types";
import { TABLES, type Range, type Table, type Tables, type Transaction } from "./tables";

const VERSION = 1;
const LOST = "The browser has removed the files that it kept here, perhaps to make room. What is in the workspace is untouched. Add the files again.";

export class Database implements Tables {
  /** What has happened to what was kept; empty if nothing. */
  trouble = "";
  /** Called when the browser has thrown away what was kept, or may have. */
  onLost: () => void = () => undefined;
  private connection: Promise<IDBDatabase> | null = null;
  private wasOpen = false;

  constructor(private readonly name: string) {}

  async transact<T>(mode: "readonly" | "readwrite", work: (tables: Transaction) => Promise<T>): Promise<T> {
    const transaction = await this.begin(mode);
    const ended = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
    ended.catch(() => undefined); // who waits for it is told below
    try {
      const result = await work(operations(transaction));
      await ended;
      return result;
    } catch (error) {
      abort(transaction);
      throw asFileError(transaction.error ?? error);
    }
  }

  close(): void {
    void this.connection?.then((database) => database.close(), () => undefined);
    this.connection = null;
  }

  /** Begins a transaction, on a new connection if the one that there was has been cut. */
  private async begin(mode: "readonly" | "readwrite"): Promise<IDBTransaction> {
    try {
      return (await this.open()).transaction([...TABLES], mode);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
      this.connection = null;
    }
    try {
      return (await this.open()).transaction([...TABLES], mode);
    } catch (error) {
      this.connection = null;
      throw asFileError(error);
    }
  }

  private open(): Promise<IDBDatabase> {
    this.connection ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(this.name, VERSION);
      request.onupgradeneeded = () => {
        for (const table of TABLES) request.result.createObjectStore(table);
        if (!this.wasOpen) return;
        this.trouble = LOST;
        this.onLost();
      };
      request.onsuccess = () => {
        this.wasOpen = true;
        this.watch(request.result);
        resolve(request.result);
      };
      request.onerror = () => reject(request.error);
    });
    return this.connection;
  }

  /** Lets go of a database that is being deleted, by the browser or in another tab. */
  private watch(database: IDBDatabase): void {
    const leave = () => {
      database.close();
      this.connection = null;
      this.onLost();
    };
    database.onclose = leave;
    database.onversionchange = leave;
  }
}

function operations(transaction: IDBTransaction): Transaction {
  const store = (table: Table) => transaction.objectStore(table);
  return {
    get: <T>(table: Table, key: string) => done<T | undefined>(store(table).get(key)),
    all: <T>(table: Table, range?: Range) => done<T[]>(store(table).getAll(range && keysIn(range))),
    count: (table, range) => done<number>(store(table).count(keysIn(range))),
    put: async (table, key, value) => void (await done(store(table).put(value, key))),
    delete: async (table, key) => void (await done(store(table).delete(key))),
    clear: async (table) => void (await done(store(table).clear())),
  };
}

function keysIn([first, behind]: Range): IDBKeyRange {
  return IDBKeyRange.bound(first, behind, false, true);
}

function done<T>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result as T);
    request.onerror = () => reject(request.error);
  });
}

function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // It has ended already.
  }
}

function asFileError(error: unknown): unknown {
  if (!(error instanceof DOMException)) return error;
  if (error.name === "QuotaExceededError") {
    return new FileError("This browser has no room left for files. Nothing was changed. Delete some, or open a real folder in place.", "full");
  }
  if (error.name === "AbortError") {
    return new FileError("The browser has cut off its storage in the middle of this. Nothing was changed. Try again.", "blocked");
  }
  return new FileError(`The browser could not use its storage (${error.name}). Nothing was changed. Try again; if it is a file from a disk, add it again.`, "blocked");
}
