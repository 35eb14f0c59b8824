/** For which calls an approval can hold for good. */

export interface Choice {
  readonly pattern: string;
  readonly label: string;
}

/** The patterns to choose from for what `review.always` says; the first is what is offered. */
export function choicesFor(target: string): Choice[] {
  if (target === "*") return [{ pattern: "*", label: "every call of this tool" }];
  const slash = target.lastIndexOf("/");
  const [folder, name] = [target.slice(0, slash + 1), target.slice(slash + 1)];
  const dot = name.lastIndexOf(".");
  const all: Choice[] = [
    { pattern: target, label: "this file" },
    { pattern: `${folder}**`, label: "everything in this folder" },
    { pattern: "**", label: "every call of this tool" },
  ];
  if (dot > 0) {
    const ending = name.slice(dot);
    all.unshift({ pattern: `${folder}*${ending}`, label: `${ending} files in this folder` });
  }
  return all.filter(({ pattern }) => covers(pattern, target));
}

/** Whether a pattern fits, as `covers` of `deepnb.interrupts` says. */
export function covers(pattern: string, target: string): boolean {
  if (target === "*") return pattern === "*";
  const names = target.split("/");
  let ends = new Set([0]); // how many names the pattern can have used up so far
  for (const part of pattern.split("/")) {
    const next = new Set<number>();
    for (const end of ends) {
      if (part === "**") for (let at = end; at <= names.length; at++) next.add(at);
      else if (end < names.length && fits(part, names[end]!)) next.add(end + 1);
    }
    ends = next;
  }
  return ends.has(names.length);
}

function fits(part: string, name: string): boolean {
  const literal = part.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  const source = literal.replace(/\*+/g, "[^]*").replace(/\?/g, "[^]");
  return new RegExp(`^${source}$`, "u").test(name);
}
