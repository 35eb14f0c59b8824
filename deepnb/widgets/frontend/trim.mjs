/**
 * Leaves out of other people's code what the panel never uses, and packs their long tables.
 *
 * What formulas look like stays the same, as a test of the commands that people write says.
 * Each change must find what it is for: a new version that is written otherwise fails the build.
 */
import { readFile } from "node:fs/promises";

/** Formulas do without pictures, HTML, diagrams, mirror writing and signs on all sides. */
const UNUSED = /temml.src.(environments.(cd|borderTree)|functions.(includegraphics|html|cancelto|bordermatrix|reflect|sfrac|verb|multiscript))\.js$/;

const CHANGES = [
  [/temml.src.symbols\.js$/, packedSymbols],
  [/temml.src.unicodeSymbols\.js$/, packedAccents],
  // The wall lets no colour through.
  [/temml.src.functions.color\.js$/, (code) => replaced(code, /JSON\.parse\(`\{[^`]*\}`\)/, "{}")],
  // What is no formula is shown as it was written, and not with what is wrong with it.
  [/temml.src.ParseError\.js$/, () => `export default class extends Error {
    toString() { return "ParseError:  " + this.message; }
  }`],
  [/temml.src.\w[\w/\\]*\.js$/, withoutMessages],
  [/temml.src.\w[\w/\\]*\.js$/, (code) => code.replaceAll("Object.prototype.hasOwnProperty.call(", "Object.hasOwn(")],
  // Lists of what is allowed by default: the panel has shorter ones of its own, and none is read beside them.
  [/dompurify.dist.purify\.es\.mjs$/, (code) => ["html$1", "html", "svg"].reduce(emptied, code)],
];

/** Names of temml's own that are long or frequent. It looks none of them up by a text. */
const NAMES =
  /^((set|get)Attribute|children|type|mode|body|attributes|handler|parser|names|props|classes|envClasses|mathmlBuilder|numArgs|numOptionalArgs|argTypes|allowedIn(Text|Math|Argument)|gullet|funcName|envName|settings|scriptLevel|number|unit|base|loc|level|extend|fetch|consume|consume(Spaces|Args?)|tokens|nextToken|popToken|pushTokens?|stack|future|family|limits|symbol|undefStack|alwaysHandleSupSub|parentIsSupSub|isFollowedByDelimiter|prevAtomType|callFunction|needsLeadingSpace|(begin|end)Group|withLevel|breakOnTokenText|hLinesBeforeRow|isStretchy|tokenRegex|emptySingleRow|leftrightDepth|(left|right)Delim|handleSupSubscript|parse(Expression|ArgumentGroup|Function|StringGroup|SizeGroup)|wrapDelimiterPairs|withTextFontShape|maxNumCols|switchMode|treatAsRelax|expandOnce|setCatcode|expansionCount|unexpandable|hasBarLine|suppressBaseShift)$/;

const less = {
  name: "less",
  setup({ onLoad }) {
    onLoad({ filter: UNUSED }, () => ({ contents: "" }));
    onLoad({ filter: /node_modules.(temml.src|dompurify.dist)/ }, async ({ path }) => {
      let contents = await readFile(path, "utf8");
      for (const [files, change] of CHANGES) if (files.test(path)) contents = await change(contents);
      return { contents };
    });
  },
};

export const trim = {
  name: "trim",
  setup(build) {
    // What makes formulas is put together before the rest, in which the same names mean other things.
    build.onLoad({ filter: /src.markdown.math\.ts$/ }, async ({ path }) => {
      const options = { bundle: true, minify: true, format: "esm", target: "es2022", charset: "utf8", write: false };
      const { outputFiles } = await build.esbuild.build({ ...options, entryPoints: [path], plugins: [less], mangleProps: NAMES, mangleQuoted: true });
      return { contents: outputFiles[0].text };
    });
    less.setup(build);
  },
};

const SYMBOL = /^defineSymbol\(.*\n/gm;

/** Writes temml's table of symbols as lists: "≡equiv ≺prec" for all of one kind. */
async function packedSymbols(code) {
  const rest = code.replace(SYMBOL, "");
  const beginning = rest.slice(0, rest.indexOf("// Now comes the symbol table"));
  const { lists, others } = kindsOf(await symbolsOf(beginning + code.match(SYMBOL).join("")));
  const packed = `${beginning}
    for (const [kind, names] of ${JSON.stringify(lists)}) {
      const [mode, group, isAccepted] = kind.split(" ");
      for (const each of names.split(" ")) defineSymbol(mode, group, each[0], "\\\\" + each.slice(1), isAccepted);
    }
    for (const each of ${JSON.stringify(others)}) defineSymbol(...each);
    ${rest.slice(beginning.length)}`;
  const [before, after] = await Promise.all([code, packed].map(symbolsOf));
  if (String(before) !== String(after)) throw new Error("temml's symbols are not the same when they are packed");
  return packed;
}

/** Names of one sign, by their kind, and all others; most signs are also accepted for themselves. */
function kindsOf(symbols) {
  const all = new Set(symbols.map(String));
  const kinds = {};
  const others = [];
  const accepted = new Set();
  for (const [mode, group, sign, name] of symbols) {
    if (!/^\\[a-z]+$/i.test(name) || sign?.length !== 1) {
      others.push([mode, group, sign, name]);
      continue;
    }
    const itself = String([mode, group, sign, sign]);
    const isAccepted = all.has(itself);
    if (isAccepted) accepted.add(itself);
    (kinds[`${mode} ${group}${isAccepted ? " 1" : ""}`] ??= []).push(sign + name.slice(1));
  }
  const lists = Object.entries(kinds).map(([kind, names]) => [kind, names.join(" ")]);
  return { lists, others: others.filter((each) => !accepted.has(String(each))) };
}

/** All that a module defines: mode, group, sign and name. */
async function symbolsOf(code) {
  const { default: symbols } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const found = ["math", "text"].flatMap((mode) =>
    Object.entries(symbols[mode]).map(([name, { group, replace }]) => [mode, group, replace, name]),
  );
  return found.sort();
}

/** Letters with accents say themselves what they are made of. */
function packedAccents(code) {
  const letters = [...code.matchAll(/^ {2}"(.)": "(.+)",?$/gmu)];
  if (letters.length < 200 || letters.some(([, letter, parts]) => letter.normalize("NFD") !== parts))
    throw new Error("temml's accents are written otherwise by now");
  const all = letters.map(([, letter]) => letter).join("");
  return `export default Object.fromEntries(Array.from("${all}", (letter) => [letter, letter.normalize("NFD")]));`;
}

/** All but the one by which temml itself knows what is wrong. */
const MESSAGE = /new ParseError\((?!"Unmatched delimiter")(?:[^()"'`]|"[^"]*"|'[^']*'|`[^`]*`|\((?:[^()]|\([^()]*\))*\))*\)/g;

function withoutMessages(code) {
  return code.replace(MESSAGE, "new ParseError()");
}

function emptied(code, list) {
  return replaced(code, new RegExp(`(?<=\\nconst ${list.replace("$", "\\$")} = freeze\\()\\[[^\\]]*\\]`), "[]");
}

function replaced(code, what, by) {
  if (!what.test(code)) throw new Error(`no ${what} is to be found any more`);
  return code.replace(what, by);
}
