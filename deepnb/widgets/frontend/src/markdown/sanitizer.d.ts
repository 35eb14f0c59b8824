/** The HTML Sanitizer API, of which TypeScript does not know all yet. */

interface Element {
  setHTML(html: string, options: { sanitizer: Sanitizer }): void;
}
