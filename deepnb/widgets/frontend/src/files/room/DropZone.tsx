/** Where files are dropped, and picked by whoever does not drop. */

import { useRef } from "preact/hooks";

import { Icon } from "../../parts/Icon";

export function DropZone({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const picked = (input: HTMLInputElement) => {
    if (input.files?.length) onFiles([...input.files]);
    input.value = ""; // the same files can be picked again
  };
  return (
    <>
      <button type="button" class="dn-drop" onClick={() => input.current!.click()}>
        <Icon name="upload" small />
        Drop files, a folder or a URL, or paste a note
      </button>
      <input ref={input} type="file" multiple hidden data-pick="files" onChange={(event) => picked(event.currentTarget)} />
      <input type="file" multiple hidden data-pick="folder" {...{ webkitdirectory: true }} onChange={(event) => picked(event.currentTarget)} />
    </>
  );
}
