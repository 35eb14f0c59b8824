/** Where a source comes from: a file, a page, a note, a tool. */

import type { Source } from "../model";
import { Icon, type IconName } from "../parts/Icon";

const ICONS: Record<string, readonly [IconName, string]> = {
  file: ["text", "File"],
  page: ["globe", "Web page"],
  note: ["pencil", "Note"],
  tool: ["model", "Tool"],
};

export function KindIcon({ source: { kind } }: { source: Source }) {
  const [icon, name] = (Object.hasOwn(ICONS, kind) && ICONS[kind]) || (["text", "Source"] as const);
  return (
    <span class="dn-kind" title={name}>
      <Icon name={icon} small />
      <span class="dn-sr">{name}</span>
    </span>
  );
}
