/** The panel, as anywidget loads it. */

import { render as draw } from "preact";

import { AppProvider, type App } from "./app";
import type { WidgetModel } from "./client";
import { Explorer } from "./explorer";
import { keepFocus } from "./focus";
import { hideTwin, installStyles, keepKeys } from "./page";
import { Shell } from "./shell/Shell";
import { Conversation } from "./store";
import { followTheme } from "./theme";
import { keepTwin } from "./twin";
import { Ui } from "./ui";
import { panelOf, register, registerIfNew } from "./wire/registry";
import { WireClient } from "./wire/wire";

interface Props {
  model: WidgetModel;
  el: HTMLElement;
}

/** Runs once for a model, also for one that nobody looks at: an old view may go on through it. */
function initialize({ model }: { model: WidgetModel }): void {
  register(model);
  model.on("change:key", () => register(model));
}

function render({ model, el }: Props): () => void {
  registerIfNew(model);
  installStyles(el);
  const root = document.createElement("div");
  root.className = "dn";
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", "deepnb session");
  el.append(root);
  keepKeys(root);
  const unfollow = followTheme(root);
  const letGo = keepFocus(root);
  const stop = run(model, root);
  return () => {
    stop();
    unfollow();
    letGo();
    root.remove();
  };
}

/** Shows the session in `root`; what was typed and opened outlives what the kernel says. */
function run(model: WidgetModel, root: HTMLElement): () => void {
  const client = new WireClient(model);
  const explorer = new Explorer(client);
  const ui = new Ui();
  if (model.get("opens") === "files") ui.set({ tab: "files", split: false });
  let app: App = { client, store: new Conversation(), ui, explorer };
  let showTwin = hideTwin(panelOf(model));
  const show = () => draw(<AppProvider value={app}><Shell /></AppProvider>, root);
  client.onNews((news, fresh) => {
    if (!fresh) {
      app.store.apply(news);
      return explorer.look();
    }
    const store = new Conversation();
    store.apply(news);
    app = { ...app, store };
    explorer.follow(store);
    show();
  });
  client.onConnection((connection) => {
    showTwin();
    // A saved transcript says more than a panel that was never told anything.
    if (connection !== "lost" || app.store.facts) showTwin = hideTwin(panelOf(model));
  });
  const leaveTwin = keepTwin(model, panelOf(model), client);
  show();
  client.start();
  return () => {
    leaveTwin();
    explorer.close();
    client.close();
    draw(null, root);
    showTwin();
  };
}

export default { initialize, render };
