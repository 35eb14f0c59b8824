/** Before anything was asked: what one could ask. */

import { useApp, useStore } from "../app";
import { Icon, type IconName } from "../parts/Icon";
import { legible } from "../parts/legible";

const ICONS: IconName[] = ["folder", "search", "scale", "list"];

export function Empty() {
  const { ui } = useApp();
  const facts = useStore((store) => store.facts);
  return (
    <div class="dn-log" role="log" aria-label="Conversation">
      {facts && (
        <div class="dn-empty">
          <div>
            <h2>{facts.takes_messages ? "What do you want to find out?" : "Nothing has run yet"}</h2>
            {facts.workspace && (
              <p class="dn-muted dn-empty-where">Working in <bdi class="dn-mono">{legible(facts.workspace)}/</bdi></p>
            )}
          </div>
          {facts.takes_messages && facts.starters.length > 0 && (
            <div class="dn-cards">
              {facts.starters.map(({ title, text }, index) => (
                <button type="button" class="dn-card" key={index} onClick={() => ui.set({ draft: text, focus: ui.focus + 1 })}>
                  <Icon name={ICONS[index % ICONS.length]!} />
                  <b>{legible(title)}</b>
                  <span>{legible(text).replace(/\s+$/, "…")}</span>
                </button>
              ))}
            </div>
          )}
        </div>
      )}
    </div>
  );
}
