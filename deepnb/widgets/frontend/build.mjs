// One file for the browser, styles and all: a notebook must need no server but its kernel.
import { readFile } from "node:fs/promises";
import { build, transform } from "esbuild";

/** Gives styles as a text, without what only their writers need. */
const styles = {
  name: "styles",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      return { contents: code, loader: "text" };
    }),
};

/** Leaves out what formulas in a text do without: pictures, HTML, diagrams, mirror writing. */
const lessMath = {
  name: "less-math",
  setup: ({ onLoad }) =>
    onLoad(
      { filter: /temml.src.(environments.cd|functions.(includegraphics|html|cancelto|bordermatrix|reflect|sfrac|verb))\.js$/ },
      () => ({ contents: "" }),
    ),
};

await build({
  entryPoints: ["src/index.tsx"],
  outfile: process.argv[2] ?? "../static/panel.js",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  plugins: [styles, lessMath],
  legalComments: "eof",
  absWorkingDir: import.meta.dirname,
});
