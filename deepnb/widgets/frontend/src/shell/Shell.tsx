/** The panel: a bar, a banner if the kernel is away, and the chat with what is shown beside it. */

import { useRef } from "preact/hooks";

import { useApp, useConnection, useStore, useUi } from "../app";
import { Chat } from "../chat/Chat";
import { useUnique } from "../parts/unique";
import { Threads } from "../tabs/Threads";
import type { Tab } from "../ui";
import { Banner } from "./Banner";
import { Bar } from "./Bar";
import { Dock } from "./Dock";
import { VIEWS } from "./views";

export function Shell() {
  const { store, ui } = useApp();
  const id = useUnique();
  const chat = useRef<HTMLDivElement>(null);
  const state = useConnection() === "lost" ? "off" : "on";
  const thread = useStore((store) => store.facts?.thread) ?? "";
  const begun = useStore((store) => store.turns.length > 0);
  const announcement = useUi((ui) => ui.announcement);
  const history = useUi((ui) => ui.history);
  const split = useUi((ui) => ui.split);
  const tab = useUi((ui) => ui.tab);
  const view = VIEWS.find((view) => view.id === tab && view.isThere(store));
  // The threads are listed where a tab beside the chat would be.
  const beside = view && split && !history ? view : undefined;
  const full = view && !split ? view : undefined;
  const selected: Tab = (beside ?? full)?.id ?? "chat";

  const toChat = (question?: string) => {
    ui.set({ tab: "chat", history: false });
    if (question) requestAnimationFrame(() => showQuestion(chat.current, question));
  };
  return (
    <div class="dn-shell" data-state={state} data-begun={begun}>
      <Bar id={id} selected={selected} />
      <Banner />
      <div
        class="dn-body"
        data-layout={beside || history ? "split" : full ? "tab" : "chat"}
        data-view={beside || history ? "side" : undefined}
      >
        <div
          ref={chat}
          class="dn-chat"
          role="tabpanel"
          id={`${id}-panel-chat`}
          aria-labelledby={`${id}-tab-chat`}
          hidden={full !== undefined}
        >
          <Chat key={thread} />
        </div>
        {full && (
          <div
            key={full.id}
            class="dn-room"
            role="tabpanel"
            id={`${id}-panel-${full.id}`}
            aria-labelledby={`${id}-tab-${full.id}`}
          >
            <full.Room key={thread} />
            <Dock onChat={toChat} />
          </div>
        )}
        {beside && (
          <div
            key={beside.id}
            class="dn-side"
            role="tabpanel"
            id={`${id}-panel-${beside.id}`}
            aria-labelledby={`${id}-tab-${beside.id}`}
          >
            <beside.Room key={thread} />
            <Dock onChat={toChat} narrow />
          </div>
        )}
        {history && (
          <aside class="dn-side" aria-label="Thread history">
            <Threads />
          </aside>
        )}
      </div>
      <p class="dn-sr" role="status">
        {announcement}
      </p>
    </div>
  );
}

/** Leads to an open question; only ever because the person has asked for it. */
function showQuestion(chat: HTMLElement | null, id: string): void {
  const cards = [...(chat?.querySelectorAll<HTMLElement>(".dn-ask") ?? [])];
  const card = cards.find((card) => card.dataset.question === id) ?? cards[0];
  card?.scrollIntoView({ block: "nearest" });
  card?.querySelector<HTMLElement>("button, input, textarea, select")?.focus();
}
