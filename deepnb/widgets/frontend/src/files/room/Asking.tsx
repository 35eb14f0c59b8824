/** The question that is in front of the files. */

import type { Files } from "../types";
import { under } from "../places";
import { FolderDialog, ForgetDialog, IndexDialog, MoveDialog, NoteDialog, PageDialog, TakenDialog } from "./Dialogs";
import type { Side as Home } from "./links";
import { MapDialog } from "./MapDialog";
import { filesIn, type Item } from "./nodes";
import type { Asked, Doings } from "./useDoings";

interface AskingProps {
  asked: Asked;
  files: Files;
  items: (home: Home) => readonly Item[];
  doings: Doings;
  onClose: () => void;
}

export function Asking({ asked, files, items, doings, onClose }: AskingProps) {
  switch (asked.kind) {
    case "map":
      return <MapDialog files={files} item={asked.item} items={items("mine")} target={asked.target} onClose={onClose} onDone={doings.tell} />;
    case "move":
      return (
        <MoveDialog item={asked.item} items={items(asked.home)} onMove={(to) => doings.move(asked.home, asked.item.path, to)} onClose={onClose} />
      );
    case "folder":
      return <FolderDialog onMake={(name) => doings.makeFolder(asked.home, under(asked.parent, name))} onClose={onClose} />;
    case "taken":
      return (
        <TakenDialog taken={asked.taken} all={asked.arrived.length} onAdd={(replace) => void doings.put(asked.arrived, replace)} onClose={onClose} />
      );
    case "index":
      return (
        <IndexDialog item={asked.item} leaving={filesIn(items("mine"), asked.item)} onIndex={() => void doings.index(asked.item)} onClose={onClose} />
      );
    case "forget":
      return <ForgetDialog {...doings.forgotten()} onForget={doings.forget} onClose={onClose} />;
    case "note":
      return <NoteDialog text={asked.text} name={asked.name} onSave={doings.writeNote} onClose={onClose} />;
    case "page":
      return <PageDialog url={asked.url} onFetch={doings.fetchPage} onClose={onClose} />;
  }
}
