/** What the reader was shown of writes, kept beside the files: another tab may carry out what was approved in this one. */

import type { Shown } from "../types";
import type { Tables, Transaction } from "./tables";

const MOST = 50; // writes; nobody decides about more at once

type Rows = readonly (readonly [write: string, hash: string])[];

export class KeptShown implements Shown {
  constructor(private readonly tables: Tables) {}

  async get(write: string): Promise<string | undefined> {
    const rows = await this.tables.transact("readonly", rowsIn);
    return rows.find(([key]) => key === write)?.[1];
  }

  async set(write: string, hash?: string): Promise<void> {
    await this.tables.transact("readwrite", async (tables) => {
      const others = (await rowsIn(tables)).filter(([key]) => key !== write);
      const rows: Rows = hash === undefined ? others : [...others, [write, hash]];
      await tables.put("meta", "shown", rows.slice(-MOST));
    });
  }
}

async function rowsIn(tables: Transaction): Promise<Rows> {
  return (await tables.get<Rows>("meta", "shown")) ?? [];
}
