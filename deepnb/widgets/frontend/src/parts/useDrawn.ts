/** Whether something was drawn a while ago, so that the browser knows how high it is. */

import { useLayoutEffect, useState } from "preact/hooks";

const WHILE = 50; // milliseconds

/** An attribute of what may be left undrawn where it is not seen: before, nobody knows what room it takes. */
export function useDrawn(): "" | undefined {
  const [drawn, set] = useState<"">();
  useLayoutEffect(() => {
    const timer = setTimeout(() => set(""), WHILE);
    return () => clearTimeout(timer);
  }, []);
  return drawn;
}
