import { defineConfig } from "vitest/config";

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    environment: "happy-dom",
    testTimeout: 30_000, // a busy machine takes its time
    // Its parts are written for a bundler.
    server: { deps: { inline: ["temml"] } },
  },
});
