/** QR codes, drawn as one path. Loaded when the first of them is shown. */

import { generate } from "lean-qr";

export interface Drawing {
  /** How many modules it is wide and high. */
  readonly size: number;
  readonly path: string;
}

export function draw(text: string): Drawing {
  const code = generate(text);
  const rows = Array.from({ length: code.size }, (_, y) => rowOf((x) => code.get(x, y), code.size, y));
  return { size: code.size, path: rows.join("") };
}

/** The dark modules of a row: those side by side are one, or a hair of light would be between them. */
function rowOf(isDark: (x: number) => boolean, size: number, y: number): string {
  let path = "";
  for (let x = 0; x < size; x += 1) {
    const start = x;
    while (x < size && isDark(x)) x += 1;
    if (x > start) path += `M${start} ${y}h${x - start}v1h-${x - start}z`;
  }
  return path;
}
