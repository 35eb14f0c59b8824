/** Enter sends, Shift+Enter begins a line; what an input method takes is left to it. */

export function enterSends(event: KeyboardEvent, send: () => void): void {
  // 229 is what Safari says of the Enter that ends a composition.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  send();
}
