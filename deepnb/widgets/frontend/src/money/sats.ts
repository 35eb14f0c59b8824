/** Amounts of money, as the panel writes them. */

import { tokens } from "../parts/format";

/** 1,200 sat */
export function sats(amount: number): string {
  return `${tokens(amount)} sat`;
}
