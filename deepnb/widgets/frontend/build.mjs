// One file for the browser, styles and all: a notebook must need no server but its kernel.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { build, transform } from "esbuild";

import { trim } from "./trim.mjs";

/** Gives styles as a text, without what only their writers need. */
const styles = {
  name: "styles",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      return { contents: code, loader: "text" };
    }),
};

const outfile = process.argv[2] ?? "../static/panel.js";

await build({
  entryPoints: ["src/index.tsx"],
  outfile,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "transform",
  jsxFactory: "h",
  jsxFragment: "Fragment",
  tsconfigRaw: {}, // its own `jsx`, for types and tests, would win
  inject: ["jsx.mjs"],
  charset: "utf8",
  plugins: [styles, trim],
  legalComments: "none",
  absWorkingDir: import.meta.dirname,
});

/** The licences of what is in the bundle go with it. */
const { dependencies } = JSON.parse(await readFile(new URL("package.json", import.meta.url), "utf8"));
const licences = await Promise.all(
  Object.entries(dependencies).map(async ([name, version]) => {
    const folder = new URL(`node_modules/${name}/`, import.meta.url);
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    return `${name} ${version}\n\n${(await readFile(new URL(file, folder), "utf8")).trim()}\n`;
  }),
);
const beside = new URL(outfile, import.meta.url).pathname.replace(/\.js$/, ".licences.txt");
await writeFile(beside, licences.join(`\n${"-".repeat(80)}\n\n`));
