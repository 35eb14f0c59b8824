/** What a host lets a view know about its kernel. Only JupyterLab and Notebook tell anything. */

import type { WidgetModel } from "../client";

interface Signal {
  connect(slot: (...args: unknown[]) => void): void;
  disconnect(slot: (...args: unknown[]) => void): void;
}

interface Kernel {
  status?: string;
  connectionStatus?: string;
  statusChanged?: Signal;
}

/** `starting` is all that a page hears of a restart from elsewhere, and no model outlives it. */
const GONE = new Set(["dead", "starting", "restarting", "autorestarting", "terminating"]);

/** `unknown` where the host does not say. */
export type KernelHint = "idle" | "busy" | "gone" | "unknown";

export class Host {
  private readonly kernel: Kernel | null;

  constructor(
    private readonly model: WidgetModel,
    private readonly onGone: () => void,
  ) {
    this.kernel = this.current();
    this.kernel?.statusChanged?.connect(this.look);
    // Both are said of a model whose kernel was restarted or has closed it.
    model.on("comm_live_update", this.onGone);
    model.on("comm:close", this.onGone);
  }

  get hint(): KernelHint {
    if (!this.kernel) return "unknown";
    const status = this.current() === this.kernel ? this.kernel.status : "dead";
    if (status === undefined || GONE.has(status)) return status ? "gone" : "unknown";
    // As long as the host cannot reach it, this is how the kernel was before.
    if ((this.kernel.connectionStatus ?? "connected") !== "connected") return "unknown";
    return status === "busy" ? "busy" : status === "idle" ? "idle" : "unknown";
  }

  /** What the host is called, for `deepnb.doctor`. */
  get name(): string {
    const page = globalThis as { google?: { colab?: unknown } };
    if (page.google?.colab) return "colab";
    if (document.body?.dataset.vscodeThemeKind) return "vscode";
    return this.kernel ? "jupyter" : "unknown";
  }

  close(): void {
    this.kernel?.statusChanged?.disconnect(this.look);
    this.model.off("comm_live_update", this.onGone);
    this.model.off("comm:close", this.onGone);
  }

  private readonly look = () => {
    if (this.hint === "gone") this.onGone();
  };

  private current(): Kernel | null {
    const manager = this.model.widget_manager as { kernel?: Kernel | null } | undefined;
    return manager?.kernel ?? null;
  }
}
