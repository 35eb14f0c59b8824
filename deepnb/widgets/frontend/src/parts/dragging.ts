/** Moving the rows of a list with a pointer, by their grips. */

import type { TargetedPointerEvent } from "preact";
import { useState } from "preact/hooks";

interface Dragging {
  /** The row under the pointer; null if none is moved. */
  id: string | null;
  start: (id: string, event: TargetedPointerEvent<HTMLElement>) => void;
  /** Goes onto the list: a row that moves in the page would lose the pointer. */
  list: {
    onPointerMove: (event: TargetedPointerEvent<HTMLOListElement>) => void;
    onPointerUp: () => void;
    onPointerCancel: () => void;
  };
}

export function useDragging(ids: readonly string[], move: (id: string, to: number) => void): Dragging {
  const [id, setId] = useState<string | null>(null);
  return {
    id,
    start: (grabbed, event) => {
      if (event.button !== 0) return;
      event.currentTarget.closest("ol")?.setPointerCapture(event.pointerId);
      setId(grabbed);
    },
    list: {
      onPointerMove: (event) => {
        if (id === null) return;
        const to = placeAt(event.currentTarget, event.clientY, ids.indexOf(id));
        if (to !== null) move(id, to);
      },
      onPointerUp: () => setId(null),
      onPointerCancel: () => setId(null),
    },
  };
}

/** Where a row that comes from `from` belongs at height `y`: past the middle of the one there. */
function placeAt(list: HTMLElement, y: number, from: number): number | null {
  for (const [at, row] of [...list.children].entries()) {
    const { top, bottom } = row.getBoundingClientRect();
    if (y < top || y >= bottom) continue;
    const isPast = at > from ? y > (top + bottom) / 2 : y < (top + bottom) / 2;
    return at !== from && isPast ? at : null;
  }
  return null;
}
