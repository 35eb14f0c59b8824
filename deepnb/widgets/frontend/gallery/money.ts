/** Sessions that are paid for, with money that is made up: a question that waits for it, and a refund. */

import * as qr from "../src/money/qr";
import type { News, PaymentFacts } from "../src/protocol";

const PAYMENT: PaymentFacts = {
  price: 2,
  balance: 12,
  spent: 8,
  mints: ["https://mint.example", "https://ecash.example/Bitcoin"],
  pubkey: "02a9acc1e48c25eeeb9289b5031cc57da9fe72f3fe2861d264bdc074209b107ba2",
  status: "active",
  refund: null,
};
const TOKEN = `cashuB${"o2FteBtodHRwczovL21pbnQuZXhhbXBsZWF1Y3NhdGF0".repeat(9)}`;

export function withMoney(news: News, state: string): void {
  const payment = { ...PAYMENT };
  if (state === "money-refund") {
    const refund = { handle: "cashu:0", amount: 11, kept: 8, fee: 1, lost: 0, waiting: 0, claimed: false };
    Object.assign(payment, { balance: 0, status: "settled", refund });
  }
  if (state === "money-asked") {
    Object.assign(payment, { balance: 1, status: "exhausted" });
    const asked = news.events.find((event) => event.kind === "interrupt_opened")!;
    asked.data.request = { type: "payment_exhausted", price: 2, balance: 1, mints: payment.mints };
  }
  news.facts!.payment = payment;
}

/** What the kernel would answer about money; undefined to all else. */
export function moneyAnswer(type: string): unknown {
  Object.assign(globalThis, { galleryQr: qr });
  if (type === "reveal_refund") return { tokens: [TOKEN] };
  if (type === "load_qr") return { code: "export const draw = globalThis.galleryQr.draw" };
  return undefined;
}
