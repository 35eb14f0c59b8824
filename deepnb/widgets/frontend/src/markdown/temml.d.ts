/** The parts of temml that make MathML; the rest (chemistry, search in pages) is a fourth of it. */

declare module "temml/src/Settings.js" {
  export default class Settings {
    constructor(options: { displayMode: boolean; throwOnError: boolean; maxExpand: number; maxSize: [number, number] });
    readonly displayMode: boolean;
    readonly maxSize: [number, number];
  }
}
declare module "temml/src/parseTree.js" {
  import type Settings from "temml/src/Settings.js";
  export default function parseTree(tex: string, settings: Settings): object;
}
declare module "temml/src/constants.js" {
  export const StyleLevel: { readonly DISPLAY: number; readonly TEXT: number };
}
declare module "temml/src/Style.js" {
  export default class Style {
    constructor(options: { level: number; maxSize: [number, number] });
  }
}
declare module "temml/src/buildMathML.js" {
  import type Settings from "temml/src/Settings.js";
  import type Style from "temml/src/Style.js";
  export default function buildMathML(tree: object, tex: string, style: Style, settings: Settings): { toMarkup(): string };
}
