/** The bar: which thread this is, its views, and what can be done with it. */

import { useRef } from "preact/hooks";

import { useApp, useStore, useUi } from "../app";
import { Balance } from "../money/Balance";
import { counted } from "../parts/format";
import { Icon } from "../parts/Icon";
import { legible } from "../parts/legible";
import { step } from "../parts/Popover";
import type { Store } from "../store";
import type { Tab } from "../ui";
import { MoreMenu } from "./MoreMenu";
import { VIEWS, type View } from "./views";

export function Bar({ id, selected }: { id: string; selected: Tab }) {
  const { store, ui } = useApp();
  const title = useStore(titleOf);
  const history = useUi((ui) => ui.history);
  const last = useRef<View["id"]>("plan");
  // How the person wants each view, once they have said so.
  const wanted = useRef<Partial<Record<Tab, boolean>>>({});

  const select = (tab: Tab) => {
    if (tab === "chat") return ui.set({ tab, history: false });
    last.current = tab;
    const view = VIEWS.find((view) => view.id === tab)!;
    ui.set({ tab, history: false, split: wanted.current[tab] ?? view.beside });
  };
  const split = ui.split && selected !== "chat";
  const toggleSplit = () => {
    const there = VIEWS.filter((view) => view.isThere(store)).map((view) => view.id);
    const known = there.includes(last.current) ? last.current : there[0]!;
    const tab = selected === "chat" ? known : selected;
    wanted.current[tab] = !split;
    select(tab);
  };
  return (
    <div class="dn-top">
      <Icon name="mark" />
      <button
        type="button"
        class="dn-title"
        aria-label={`Thread: ${title}. Show all threads`}
        aria-expanded={history}
        onClick={() => ui.set({ history: !history })}
      >
        <span class="dn-cut">{title}</span>
        <Icon name="down" small />
      </button>
      <Tabs id={id} selected={selected} onSelect={select} />
      <span class="dn-top-sep" />
      <Balance />
      <button
        type="button"
        class="dn-btn dn-btn-bare dn-btn-icon"
        aria-label="Thread history"
        title="Thread history"
        aria-pressed={history}
        onClick={() => ui.set({ history: !history })}
      >
        <Icon name="history" />
      </button>
      <button
        type="button"
        class="dn-btn dn-btn-bare dn-btn-icon dn-hide-narrow"
        aria-label="Beside the chat"
        title="Beside the chat"
        aria-pressed={split}
        onClick={toggleSplit}
      >
        <Icon name="side" />
      </button>
      <MoreMenu />
    </div>
  );
}

function titleOf({ facts, turns }: Store): string {
  return legible(facts?.title || (turns.length && facts?.thread) || "New thread");
}

interface TabsProps {
  id: string;
  selected: Tab;
  onSelect: (tab: Tab) => void;
}

function Tabs({ id, selected, onSelect }: TabsProps) {
  const { store, explorer } = useApp();
  useStore((store) => labels(store).join());
  const open = useStore((store) => store.open.length);
  const list = useRef<HTMLDivElement>(null);
  const views = VIEWS.filter((view) => view.isThere(store));
  const ids: Tab[] = ["chat", ...views.map((view) => view.id)];

  const move = (event: KeyboardEvent) => {
    const next = step(event.key, ids.indexOf(selected), ids.length);
    if (next === null || event.key === "ArrowUp" || event.key === "ArrowDown") return;
    event.preventDefault();
    onSelect(ids[next]!);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[next]?.focus();
  };
  const tab = (name: Tab) => ({
    type: "button" as const,
    role: "tab" as const,
    id: `${id}-tab-${name}`,
    "aria-selected": selected === name,
    "aria-controls": selected === name || name === "chat" ? `${id}-panel-${name}` : undefined,
    tabIndex: selected === name ? 0 : -1,
    onClick: () => onSelect(name),
  });
  return (
    <div ref={list} class="dn-tabs" role="tablist" aria-label="Views of this session" onKeyDown={move}>
      <button {...tab("chat")} data-chat>
        Chat{" "}
        {open > 0 && (
          <span class="dn-alert">
            <span aria-hidden="true">{open}</span>
            <span class="dn-sr">{counted(open, "question")} for you</span>
          </span>
        )}
      </button>
      {views.map((view) => (
        <button key={view.id} {...tab(view.id)} {...(view.id === "files" ? { onPointerEnter: () => void explorer.openAhead() } : {})}>
          {view.name} <Count text={view.count(store)} />
        </button>
      ))}
    </div>
  );
}

function Count({ text }: { text: string }) {
  return text ? <span class="dn-count">{text}</span> : null;
}

/** All that the tabs say, to be drawn again when it changes and not at every token. */
function labels(store: Store): string[] {
  return VIEWS.map((view) => `${view.isThere(store)} ${view.count(store)}`);
}
