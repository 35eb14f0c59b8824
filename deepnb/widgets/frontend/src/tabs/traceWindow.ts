/** Which rows of a long list are in sight, where one of them may be opened to something higher. */

export interface Sight {
  /** Of the list's rows, in px; the opened one's detail comes on top. */
  readonly rowHeight: number;
  readonly detailHeight: number;
  /** How far it is scrolled, and how much of it can be seen. */
  readonly top: number;
  readonly height: number;
}

export interface Window {
  readonly first: number;
  /** After the last row in sight. */
  readonly last: number;
  /** The height of what is left out, in px. */
  readonly before: number;
  readonly after: number;
}

const MARGIN = 8; // rows above and below what is in sight

/** Where a row begins; `opened` is the place of the opened one, -1 if none is. */
export function topOf(index: number, opened: number, { rowHeight, detailHeight }: Sight): number {
  return index * rowHeight + (opened >= 0 && opened < index ? detailHeight : 0);
}

export function windowOf(count: number, opened: number, sight: Sight): Window {
  const { top, height, rowHeight, detailHeight } = sight;
  const under = topOf(opened + 1, -1, sight); // where the detail begins
  const passed = opened >= 0 && top > under ? Math.max(under, top - detailHeight) : top;
  const first = Math.max(0, Math.min(count, Math.floor(passed / rowHeight)) - MARGIN);
  const last = Math.min(count, first + Math.ceil(height / rowHeight) + 2 * MARGIN);
  const whole = topOf(count, opened, sight);
  return {
    first,
    last,
    before: topOf(first, opened, sight),
    after: whole - topOf(last, opened, sight),
  };
}
