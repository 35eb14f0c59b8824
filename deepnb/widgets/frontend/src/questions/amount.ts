/** Amounts of a budget, in its unit. */

import { tokens } from "../parts/format";

const dollars = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  maximumFractionDigits: 4,
});

/** $2.05, 14 model calls or 20,000 tokens. */
export function amount(value: number, unit: string): string {
  if (unit === "usd") return dollars.format(value);
  const name = unit === "calls" ? "model calls" : unit;
  const number = Number.isInteger(value) ? tokens(value) : value;
  return `${number} ${value === 1 ? name.replace(/s$/, "") : name}`.trim();
}
