/** Enter sends, Shift+Enter begins a line; what an input method takes is left to it. */

/** Whether a key is the input method's; 229 is what Safari says of the Enter that ends a composition. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

export function enterSends(event: KeyboardEvent, send: () => void): void {
  if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
  event.preventDefault();
  send();
}
