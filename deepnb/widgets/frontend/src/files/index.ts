/** The file explorer: the reader's files, the workspace's, what moves between them, and what shows them. */

import type { Session } from "../explorer";
import { Previews } from "./previews";
import { AgentServing } from "./serve";
import { readAhead } from "./room/hooks";
import { openShelf } from "./shelf/index";
import { StepKeeper } from "./sync";
import { runTool } from "./tools/index";
import { FileTransfers } from "./transfers";
import { FileError, type Files } from "./types";
import { KernelWorkspace } from "./workspace";

export { FilesRoom } from "./room/FilesRoom";

export async function openFiles(session: Session): Promise<Files> {
  const name = session.store.facts?.files?.shelf;
  if (!name) throw new FileError("The session is closed. Open it again to see its files.");
  const shelf = await openShelf(name);
  readAhead(shelf);
  const workspace = new KernelWorkspace(session);
  const transfers = new FileTransfers(session.client, shelf, workspace);
  const sync = new StepKeeper(session, shelf, transfers);
  const previews = new Previews(shelf);
  const serving = new AgentServing(session, shelf, runTool, previews);
  const close = () => {
    for (const each of [serving, sync, transfers, workspace, shelf]) each.close();
  };
  return { shelf, workspace, transfers, sync, serving, previews, close };
}
