// Shows the gallery at http://127.0.0.1:8765/, built anew at each request. Not shipped.
import { context } from "esbuild";

const gallery = await context({
  entryPoints: ["gallery/gallery.ts"],
  outdir: "gallery",
  bundle: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".css": "text" },
  sourcemap: "inline",
  absWorkingDir: `${import.meta.dirname}/..`,
});
const port = Number(process.env.PORT ?? 8765);
await gallery.serve({ servedir: `${import.meta.dirname}`, host: "127.0.0.1", port });
console.log(`http://127.0.0.1:${port}/`);
