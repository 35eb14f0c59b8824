/** A folder of a disk for tests, as a browser gives it to a page: with names that no path has, and files that may not be read. */

const failed = (name: string) => new DOMException(name, name);

export class DiskFile {
  readonly kind = "file";
  isLocked = false;
  private modified = 1;
  /** Called when new content was written and is not yet in its place. */
  onWritten: () => void = () => undefined;

  constructor(private content: string) {}

  get text(): string {
    return this.content;
  }

  /** As another program saves it. */
  save(text: string): void {
    this.content = text;
    this.modified += 1;
  }

  async getFile(): Promise<File> {
    if (this.isLocked) throw failed("NotReadableError");
    return new File([this.content], "file", { lastModified: this.modified });
  }

  async createWritable() {
    let written = "";
    return {
      write: async (content: Blob) => {
        written += await content.text();
        this.onWritten();
      },
      close: async () => this.save(written),
      abort: async () => undefined,
    };
  }
}

export class DiskFolder {
  readonly kind = "directory";
  readonly inside = new Map<string, DiskFile | DiskFolder>();
  isLocked = false;
  /** Called before something is made in it, or taken from it. */
  onMake: (name: string) => void = () => undefined;
  onRemove: (name: string) => void = () => undefined;

  constructor(readonly name = "disk", files: Record<string, string> = {}) {
    for (const [path, text] of Object.entries(files)) this.put(path, text);
  }

  put(path: string, text: string): DiskFile {
    const parts = path.split("/");
    let folder: DiskFolder = this;
    for (const part of parts.slice(0, -1)) {
      const next = folder.inside.get(part) ?? new DiskFolder(part);
      folder.inside.set(part, next);
      folder = next as DiskFolder;
    }
    const file = new DiskFile(text);
    folder.inside.set(parts.at(-1)!, file);
    return file;
  }

  at(path: string): DiskFile {
    return path.split("/").reduce<DiskFile | DiskFolder>((folder, part) => (folder as DiskFolder).inside.get(part)!, this) as DiskFile;
  }

  folder(path: string): DiskFolder {
    return this.at(path) as unknown as DiskFolder;
  }

  /** All files with their texts, and folders, which have none. */
  dump(): Record<string, string | null> {
    const found: Record<string, string | null> = {};
    for (const [name, each] of this.inside) {
      found[name] = each instanceof DiskFile ? each.text : null;
      if (each instanceof DiskFolder) for (const [path, text] of Object.entries(each.dump())) found[`${name}/${path}`] = text;
    }
    return found;
  }

  asHandle(): FileSystemDirectoryHandle {
    return this as unknown as FileSystemDirectoryHandle;
  }

  async *entries() {
    if (this.isLocked) throw failed("NotReadableError");
    yield* [...this.inside];
  }

  async getFileHandle(name: string, { create = false } = {}): Promise<DiskFile> {
    if (create) this.onMake(name);
    const found = this.inside.get(name) ?? (create ? this.put(name, "") : undefined);
    if (!found) throw failed("NotFoundError");
    if (found instanceof DiskFolder) throw failed("TypeMismatchError");
    return found;
  }

  async getDirectoryHandle(name: string, { create = false } = {}): Promise<DiskFolder> {
    const found = this.inside.get(name);
    if (found instanceof DiskFile) throw failed("TypeMismatchError");
    if (!found && !create) throw failed("NotFoundError");
    const folder = found ?? new DiskFolder(name);
    this.inside.set(name, folder);
    return folder;
  }

  async removeEntry(name: string, { recursive = false } = {}): Promise<void> {
    this.onRemove(name);
    const found = this.inside.get(name);
    if (!found) throw failed("NotFoundError");
    if (found instanceof DiskFolder && found.inside.size > 0 && !recursive) throw failed("InvalidModificationError");
    this.inside.delete(name);
  }

  async isSameEntry(other: unknown): Promise<boolean> {
    return other === this;
  }
}
