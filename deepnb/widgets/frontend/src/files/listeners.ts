/** Those who want to know when something has changed: told once for many changes that come together. */

/** Milliseconds: short for an eye, long for five hundred small files. */
const LULL = 30;

export class Listeners {
  private readonly callbacks = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  get isEmpty(): boolean {
    return !this.callbacks.size;
  }

  subscribe(callback: () => void): () => void {
    this.callbacks.add(callback);
    return () => this.callbacks.delete(callback);
  }

  tell(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      for (const callback of [...this.callbacks]) callback();
    }, LULL);
  }
}
