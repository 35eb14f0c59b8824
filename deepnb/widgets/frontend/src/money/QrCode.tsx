/** A text as a QR code, to be scanned by a phone. */

import { useEffect, useState } from "preact/hooks";

import { useApp } from "../app";
import { later, moduleOf } from "../later";
import { useTask } from "../parts/useTask";
import type { Drawing } from "./qr";
import type * as module from "./qr";

/** Characters that the largest code can hold. */
const LONGEST = 2_953;

/** Modules around it that stay light, or no camera finds it. */
const QUIET = 4;

const load = later(async (client) => moduleOf<typeof module>((await client.request("load_qr", {})).code));

export function QrCode({ text, label }: { text: string; label: string }) {
  const { client } = useApp();
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  const task = useTask();
  const fits = text.length <= LONGEST;
  useEffect(() => {
    if (fits) void task.run(async () => setDrawing((await load(client)).draw(text)));
  }, [text]);
  if (!fits) return <p class="dn-note">It is too long for a QR code. Copy it instead.</p>;
  if (task.error)
    return (
      <p class="dn-small dn-bad" role="alert">
        No QR code could be drawn: {task.error}
      </p>
    );
  if (!drawing) return <span class="dn-spin" aria-hidden="true" />;
  const size = drawing.size + 2 * QUIET;
  return (
    <svg class="dn-qr" role="img" aria-label={label} viewBox={`${-QUIET} ${-QUIET} ${size} ${size}`}>
      <path d={drawing.path} />
    </svg>
  );
}
