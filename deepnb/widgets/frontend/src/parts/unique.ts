/** Ids that are unique in the page: every cell may hold a panel, and each has a copy of this code. */

import { useState } from "preact/hooks";

export function useUnique(): string {
  const [id] = useState(() => `dn-${Math.random().toString(36).slice(2, 10)}`);
  return id;
}
