// The files for the browser, styles and all: a notebook must need no server but its kernel. The panel is
// saved with every notebook; the file explorer and QR codes come over the wire when somebody needs them.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { build, transform } from "esbuild";

import { trim } from "./trim.mjs";

const SOURCES = join(import.meta.dirname, "src");

/** Gives styles as a text, without what only their writers need. */
const styles = {
  name: "styles",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      return { contents: code, loader: "text" };
    }),
};

/** Leaves out what the panel has: it is asked for by the names in `src/shared.ts`. */
const shared = {
  name: "shared",
  async setup({ onResolve }) {
    const table = await readFile(join(SOURCES, "shared.ts"), "utf8");
    const names = new Set(Array.from(table.split("SHARED")[1].matchAll(/^ {2}"?([\w/]+)"?(?:: \w+)?,$/gm), ([, name]) => name));
    onResolve({ filter: /^(\.|preact)/ }, ({ path, importer, kind }) => {
      if (kind === "entry-point") return;
      const place = path.startsWith(".") ? relative(SOURCES, resolve(dirname(importer), path)) : path;
      if (importer.includes("node_modules") || place.startsWith("files/") || place.startsWith("..")) return;
      if (!names.has(place)) throw new Error(`${importer} needs ${place}, which src/shared.ts does not share`);
      return { path: place, external: true };
    });
  },
};

const common = {
  bundle: true,
  minify: true,
  target: "es2022",
  jsx: "transform",
  jsxFactory: "h",
  jsxFragment: "Fragment",
  tsconfigRaw: {}, // its own `jsx`, for types and tests, would win
  inject: ["jsx.mjs"],
  charset: "utf8",
  legalComments: "none",
  absWorkingDir: import.meta.dirname,
};

const outdir = process.argv[2] ?? "../static";
await build({
  ...common,
  entryPoints: ["src/index.tsx"],
  outfile: `${outdir}/panel.js`,
  format: "esm",
  plugins: [styles, trim],
});
await build({
  ...common,
  entryPoints: ["src/files/index.ts"],
  outfile: `${outdir}/files.js`,
  format: "cjs",
  // A module that is a function of what it shares, since a text that was loaded can import nothing.
  banner: { js: "export default(require)=>{const module={exports:{}};" },
  footer: { js: "return module.exports};" },
  plugins: [styles, shared],
});
await build({ ...common, inject: [], entryPoints: ["src/money/qr.ts"], outfile: `${outdir}/qr.js`, format: "esm" });

/** The licences of what is in the bundles go with them. */
const { dependencies } = JSON.parse(await readFile(new URL("package.json", import.meta.url), "utf8"));
const licences = await Promise.all(
  Object.entries(dependencies).map(async ([name, version]) => {
    const folder = new URL(`node_modules/${name}/`, import.meta.url);
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    return `${name} ${version}\n\n${(await readFile(new URL(file, folder), "utf8")).trim()}\n`;
  }),
);
await writeFile(resolve(import.meta.dirname, outdir, "licences.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));
