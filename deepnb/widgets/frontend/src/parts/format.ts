/** Numbers and times as the panel writes them. */

const whole = new Intl.NumberFormat("en-US");

/** 27,322 */
export function tokens(count: number): string {
  return whole.format(Math.round(count));
}

/** $0.041; as many digits as it takes to see something, and the sign of nothing for nothing. */
export function cost(dollars: number): string {
  if (dollars === 0) return "$0";
  if (dollars < 0.0005) return "<$0.001";
  return `$${dollars < 1 ? dollars.toFixed(3) : whole.format(Number(dollars.toFixed(2)))}`;
}

/** $0.04, for where there is little room. */
export function shortCost(dollars: number): string {
  if (dollars === 0) return "$0";
  return dollars < 0.005 ? "<$0.01" : `$${dollars.toFixed(2)}`;
}

/** 1:46 or 2:03:10: how long something has gone on. */
export function clock(seconds: number): string {
  const all = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  const tail = String(rest).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

/** 38 ms, 0.4 s, 14.8 s or 1:46: how long something took. */
export function took(seconds: number): string {
  if (seconds < 0.0995) return `${Math.max(0, Math.round(seconds * 1000))} ms`;
  return seconds < 59.95 ? `${seconds.toFixed(1)} s` : clock(seconds);
}

/** 14:02, for seconds since 1970. */
export function timeOfDay(time: number): string {
  const date = new Date(time * 1000);
  return `${String(date.getHours()).padStart(2, "0")}:${String(date.getMinutes()).padStart(2, "0")}`;
}

/** "1 question", "2 questions" */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${tokens(count)} ${count === 1 ? one : many}`;
}
