import { defineConfig } from "vitest/config";

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    environment: "happy-dom",
    // Its parts are written for a bundler.
    server: { deps: { inline: ["temml"] } },
  },
});
