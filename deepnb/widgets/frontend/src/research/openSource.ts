/** Leads to a passage of a source. */

import type { Place } from "../model";
import type { Ui } from "../ui";

export function openSource(ui: Ui, place: Place): void {
  // Beside the chat if it is there already, else with all the room there is.
  ui.set({ tab: "sources", history: false, split: ui.tab === "sources" && ui.split, source: { ...place } });
}
