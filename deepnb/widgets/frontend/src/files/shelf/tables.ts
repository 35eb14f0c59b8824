/** Where the shelf keeps things: tables whose changes come together or not at all. */

export const TABLES = ["entries", "contents", "handles", "answers", "trash", "meta"] as const;
export type Table = (typeof TABLES)[number];

/** Keys from the first one up to, but without, the second. */
export type Range = readonly [string, string];

/** While it is under way, only its own promises may be waited for: a database ends it when it has nothing to do. */
export interface Transaction {
  get<T>(table: Table, key: string): Promise<T | undefined>;
  /** By their keys' order. */
  all<T>(table: Table, range?: Range): Promise<T[]>;
  count(table: Table, range: Range): Promise<number>;
  put(table: Table, key: string, value: unknown): Promise<void>;
  delete(table: Table, key: string): Promise<void>;
  clear(table: Table): Promise<void>;
}

export interface Tables {
  /** Does `work`; whatever it throws, nothing has changed. */
  transact<T>(mode: "readonly" | "readwrite", work: (tables: Transaction) => Promise<T>): Promise<T>;
  close(): void;
}

/** Tables that last as long as the page, for browsers that keep nothing. */
export class MemoryTables implements Tables {
  private readonly tables = new Map(TABLES.map((table) => [table, new Map<string, unknown>()]));
  private turn: Promise<unknown> = Promise.resolve();

  transact<T>(_mode: "readonly" | "readwrite", work: (tables: Transaction) => Promise<T>): Promise<T> {
    const result = this.turn.then(() => this.run(work));
    this.turn = result.catch(() => undefined);
    return result;
  }

  close(): void {}

  private async run<T>(work: (tables: Transaction) => Promise<T>): Promise<T> {
    const undo: (() => void)[] = [];
    const set = (table: Table, key: string, value: unknown) => {
      const rows = this.tables.get(table)!;
      const before = rows.get(key);
      undo.push(() => (before === undefined ? rows.delete(key) : rows.set(key, before)));
      if (value === undefined) rows.delete(key);
      else rows.set(key, value);
      return Promise.resolve();
    };
    try {
      return await work({
        get: <V>(table: Table, key: string) => Promise.resolve(this.tables.get(table)!.get(key) as V | undefined),
        all: <V>(table: Table, range?: Range) => Promise.resolve(this.rows(table, range) as V[]),
        count: (table, range) => Promise.resolve(this.rows(table, range).length),
        put: set,
        delete: (table, key) => set(table, key, undefined),
        clear: async (table) => {
          for (const key of [...this.tables.get(table)!.keys()]) await set(table, key, undefined);
        },
      });
    } catch (error) {
      for (const back of undo.toReversed()) back();
      throw error;
    }
  }

  private rows(table: Table, range?: Range): unknown[] {
    const rows = [...this.tables.get(table)!].filter(([key]) => !range || (range[0] <= key && key < range[1]));
    return rows.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
  }
}
