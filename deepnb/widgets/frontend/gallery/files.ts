/** Files that nobody has, for the explorer to be looked at: `?state=files&click=Files`. */

import { FilesRoom } from "../src/files/room/FilesRoom";
import type { Conflict, Entry, Files, Standing, Transfer } from "../src/files/types";
import type { Mapping, News } from "../src/protocol";

const NOTES = "# The cable of 1858\n\nThe line was silent from the 1st.\nWhitehouse was dismissed in August.\nAsk the archive about the July letter.\n";
const THEIRS = "# The cable of 1858\n\nThe line was silent from the 1st.\nWhitehouse was dismissed on 17 August [S1, p. 38].\n";
const NOTEBOOK = JSON.stringify({
  cells: [
    { cell_type: "markdown", source: ["## Speeds\n", "Words a *minute*, <img src=x onerror=alert(1)>"] },
    { cell_type: "code", source: ["speeds.mean()"], outputs: [{ data: { "text/plain": ["12.4"], "text/html": ["<b>12.4</b>"] } }] },
  ],
});
const DRAWING = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 120"><path d="M8 96C80 20 120 110 176 60S280 30 312 84" fill="none" stroke="teal" stroke-width="4"/></svg>`;

const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 120]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Times-Roman>>>>>>>>endobj
4 0 obj<</Length 54>>stream
BT /F 18 Tf 30 60 Td (The minutes of August 1858) Tj ET
endstream endobj
trailer<</Root 1 0 R>>
`;

const CONTENTS: Record<string, string> = {
  "/notes/1858-cable.md": NOTES,
  "/notes/questions.md": "- Who paid?\n- Who knew?\n",
  "/scans/valentia-log.txt": "16 Aug: signals clear.\n1 Sep: nothing readable.\n".repeat(40),
  "/cable-costs.csv": "Item,Pounds,Paid to\nCopper core,\"62,000\",Glass & Elliot\nGutta-percha,\"112,000\",Gutta Percha Co.\nLaying,\"28,500\",\"Agamemnon, Niagara\"\n",
  "/speeds.ipynb": NOTEBOOK,
  "/route.svg": DRAWING,
  "/minutes.pdf": PDF,
  "/key.bin": "\0\x01\x02PK\x03 not a text",
  "/a\u202ednuof <b>gpj.exe": "hostile",
};
const NOW = Date.now();
const mapping = (id: string, source: string, target: string, mode: Mapping["mode"], is_folder = true): Mapping => ({
  id, browser: "b1", source, target, is_folder, mode,
});
const MAPPINGS = [
  mapping("m1", "/scans", "/scans", "sync"),
  mapping("m2", "/notes", "/notes", "sync"),
  mapping("m3", "/cable-costs.csv", "/data/cable-costs.csv", "copy", false),
];

export function withFiles(news: News, state: string): void {
  const isEmpty = state === "files-none";
  news.facts!.files = { shelf: "gallery", version: 1, mappings: [], agent_reads: !isEmpty, can_index: true };
  if (isEmpty) return;
  const told = [
    { what: "tool", name: "grep_files", paths: ["/notes/1858-cable.md", "/scans/valentia-log.txt"], files: 3, bytes: 1240, detail: "12 matching lines" },
    { what: "sync", name: null, paths: ["/scans/ledger-1858.tif"], files: 1, bytes: 131e6, detail: "" },
  ];
  for (const { name, ...data } of told)
    news.events.push({ seq: ++news.last, time: NOW / 1000 - 240, kind: "disclosed", run: "", name, data } as unknown as News["events"][number]);
}

export function galleryFiles(state: string) {
  return { FilesRoom, openFiles: async () => madeUp(state) };
}

function madeUp(state: string): Files {
  const [entries, listed] = state === "files-none" ? [[], []] : [mine(state === "files-many"), theirs()];
  const quiet = state !== "files";
  const silent = { subscribe: () => () => {} };
  const nothing = async () => {};
  const undone = async () => nothing;
  return {
    shelf: {
      ...silent,
      browser: "b1",
      trouble: state === "files-none" ? "This is a private window: files are kept only until it is closed." : "",
      entries: async () => entries,
      folders: async () => (quiet ? [] : [{ name: "Archive", state: "ask" }]),
      read: async (path) => new Blob([CONTENTS[path] ?? "text"]),
      write: async (path, content) => entry(path, content.size),
      makeFolder: nothing,
      move: nothing,
      remove: undone,
      hash: async () => "",
      openFolder: async ({ name }) => ({ name, state: "open" }),
      allowFolder: async () => false,
      closeFolder: nothing,
      answered: async () => undefined,
      close: () => {},
    },
    workspace: {
      ...silent,
      files: listed,
      truncated: false,
      problem: "",
      refresh: nothing,
      makeFolder: nothing,
      move: nothing,
      remove: undone,
      head: async (path) => {
        const content = new Blob([path.endsWith("cable.md") ? THEIRS : (CONTENTS[path] ?? "text")]);
        return { content, size: content.size };
      },
      chunk: async () => ({ about: { size: 0, modified: 0, version: "" }, bytes: new Uint8Array() }),
      fetchPage: async () => ({ path: "/pages/a.html", size: 1, sha256: "" }),
    },
    transfers: {
      ...silent,
      list: quiet ? [] : TRANSFERS,
      upload: () => new Promise(() => {}),
      download: () => new Promise(() => {}),
      pause: () => {},
      resume: () => {},
      cancel: () => {},
    },
    sync: {
      ...silent,
      mappings: quiet ? [] : MAPPINGS,
      conflicts: quiet ? [] : CONFLICTS,
      standing: (id): Standing => ({ state: id === "m3" ? "copied" : "in step", problem: "", at: NOW, files: 2 }),
      map: () => new Promise(() => {}),
      unmap: nothing,
      run: nothing,
      decide: nothing,
    },
    serving: { ...silent, waiting: [] },
    close: () => {},
  };
}

const CONFLICTS: Conflict[] = [
  { mapping: MAPPINGS[1]!, path: "1858-cable.md", kind: "conflict", here: "a", there: "b", agreed: "c" },
  { mapping: MAPPINGS[0]!, path: "draft.txt", kind: "gone_there", here: "a", there: "", agreed: "a" },
];

const TRANSFERS: Transfer[] = [
  { id: "t1", direction: "up", source: "/scans/ledger-1858.tif", target: "/scans/ledger-1858.tif", purpose: "sync", size: 200e6, done: 131e6, speed: 16e6, state: "running", problem: "" },
  { id: "t2", direction: "up", source: "/scans/map.tif", target: "/scans/map.tif", purpose: "sync", size: 9e6, done: 2e6, speed: 0, state: "failed", problem: "“/scans/map.tif” has changed while it was sent. Look at it, and send it again." },
];

function entry(path: string, size: number, isDir = false): Entry {
  return { path, isDir, size, modified: NOW - 600_000, folder: "" };
}

function mine(many: boolean): Entry[] {
  const files = Object.entries(CONTENTS).map(([path, text]) => entry(path, text.length));
  const more = many ? Array.from({ length: 10_000 }, (_, number) => entry(`/many/file ${number}.txt`, number)) : [];
  const folders = ["/notes", "/scans", ...(many ? ["/many"] : [])].map((path) => entry(path, 0, true));
  return [...folders, ...files, entry("/scans/ledger-1858.tif", 200e6), ...more];
}

function theirs() {
  const file = (path: string, size: number, is_dir = false) => ({ path, size, is_dir, modified: NOW / 1000 - 300 });
  return [
    file("/data", 0, true), file("/data/cable-costs.csv", 6000), file("/notes", 0, true), file("/notes/1858-cable.md", 2100),
    file("/notes/questions.md", 2000), file("/scans", 0, true), file("/inquiry-1861.pdf", 11e6), file("/minutes-1858.pdf", 4e6), file("/POLICY.md", 900),
  ];
}
