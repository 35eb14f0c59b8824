/** TeX to MathML. */

import buildMathML from "temml/src/buildMathML.js";
import { StyleLevel } from "temml/src/constants.js";
import parseTree from "temml/src/parseTree.js";
import Settings from "temml/src/Settings.js";
import Style from "temml/src/Style.js";

/** Raises if it is no TeX, or is meant to never end. */
export function mathML(tex: string, isDisplay: boolean): string {
  const settings = new Settings({ displayMode: isDisplay, throwOnError: true, maxExpand: 200, maxSize: [20, 500] });
  const level = isDisplay ? StyleLevel.DISPLAY : StyleLevel.TEXT;
  const style = new Style({ level, maxSize: settings.maxSize });
  return buildMathML(parseTree(tex, settings), tex, style, settings).toMarkup();
}
