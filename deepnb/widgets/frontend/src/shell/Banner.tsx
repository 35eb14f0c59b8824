/** Says when the kernel is away, and how to get it back. Everything stays readable meanwhile. */

import { useEffect, useLayoutEffect, useState } from "preact/hooks";

import { useApp, useConnection, useStore } from "../app";
import { CopyButton } from "../parts/CopyButton";
import { timeOfDay } from "../parts/format";
import { Icon } from "../parts/Icon";
import { legible } from "../parts/legible";

export function Banner() {
  const { client } = useApp();
  const connection = useConnection();
  const closed = useStore((store) => store.facts?.status === "closed");
  const [, draw] = useState({});
  useLayoutEffect(() => client.onConnection(() => draw({})), [client]); // why it is lost may change
  const slow = useLater(connection === "connecting", 1000);
  if (connection === "lost" && !client.dead && client.refusal)
    return (
      <div class="dn-off" role="alert">
        <Icon name="unplug" />
        <span class="dn-grow">{legible(client.refusal)}</span>
      </div>
    );
  if (connection === "lost" && !client.dead)
    return <Quiet>The kernel does not answer. If a long cell keeps it busy, this panel comes back by itself; else run the cell that made session.</Quiet>;
  if (connection === "lost") return <Gone what="The kernel is gone." />;
  if (closed) return <Gone what="This session was closed." />;
  if (connection === "busy")
    return <Quiet>The kernel is busy with a cell. What you click is taken when it ends.</Quiet>;
  return slow ? <Quiet>Connecting…</Quiet> : null;
}

function Gone({ what }: { what: string }) {
  const { store } = useApp();
  const facts = useStore((store) => store.facts);
  const [heard] = useState(() => Date.now() / 1000);
  const last = store.trace.at(-1)?.time ?? store.turns.at(-1)?.time ?? heard;
  const kept = !facts
    ? ""
    : facts.kept
      ? `Everything up to ${timeOfDay(last)} is saved. `
      : "This conversation was not kept on disk. ";
  return (
    <div class="dn-off" role="alert">
      <Icon name="unplug" />
      <span class="dn-grow">
        <b>{what}</b> {kept}Run the cell that made <code>session</code> and this panel comes back.
      </span>
      {facts?.opening && <CopyButton text={() => facts.opening}>Copy the cell</CopyButton>}
    </div>
  );
}

function Quiet({ children }: { children: string }) {
  return (
    <div class="dn-note dn-away" role="status">
      <span class="dn-spin" aria-hidden="true" />
      <span class="dn-grow">{children}</span>
    </div>
  );
}

/** True once something has gone on for so many milliseconds. */
function useLater(going: boolean, after: number): boolean {
  const [late, set] = useState(false);
  useEffect(() => {
    set(false);
    if (!going) return;
    const timer = setTimeout(() => set(true), after);
    return () => clearTimeout(timer);
  }, [going, after]);
  return going && late;
}
