/** The file explorer, as soon as it is there. */

import { useEffect } from "preact/hooks";

import { useApp, useObserved } from "../app";

export function Files() {
  const { explorer } = useApp();
  const files = useObserved(explorer, ({ files }) => files);
  const problem = useObserved(explorer, ({ problem }) => problem);
  useEffect(() => void explorer.open(), [explorer]);
  const { room: Room } = explorer;
  if (Room && files) return <Room files={files} />;
  return (
    <div class="dn-pane-empty dn-empty-note" role="status">
      {problem ? (
        <>
          <p>The file explorer could not be loaded: {problem}</p>
          <button type="button" class="dn-btn" onClick={() => void explorer.open()}>
            Try again
          </button>
        </>
      ) : (
        <p>Opening your files…</p>
      )}
    </div>
  );
}
