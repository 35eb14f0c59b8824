/** Parts of the panel that come over the wire when somebody needs them: the panel is saved with every notebook. */

import type { Client } from "./client";

/** Loads a part once for all views of the page; a refusal is not kept. */
export function later<Part>(load: (client: Client) => Promise<Part>): (client: Client) => Promise<Part> {
  let loaded: Promise<Part> | null = null;
  return (client) => {
    loaded ??= load(client).catch((error) => {
      loaded = null;
      throw error;
    });
    return loaded;
  };
}

/** Runs a module that has come as a text. */
export async function moduleOf<Module>(code: string): Promise<Module> {
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    return (await import(/* @vite-ignore */ address)) as Module;
  } finally {
    URL.revokeObjectURL(address);
  }
}
