/**
 * The real panel with a fake kernel: `?state=approval&theme=dark&width=420&click=Thread history`.
 *
 * `click` presses what has that name or text, one after the other if separated by `|`. Without
 * `state`, all of them are listed.
 */

import type { News } from "../src/protocol";
import panel from "../src/index";
import { galleryFiles, withFiles } from "./files";
import { FakeModel } from "./model";
import { withMoney } from "./money";

const query = new URLSearchParams(location.search);
const state = query.get("state");
document.body.dataset.jpThemeLight = String(query.get("theme") !== "dark");

if (state) {
  const el = document.createElement("div");
  if (query.get("width")) el.style.width = `${query.get("width")}px`;
  document.body.append(el);
  // These are an ordinary conversation, with files or money that are made up.
  const [isFiles, isMoney] = [state.startsWith("files"), state.startsWith("money")];
  const recorded = state === "money-asked" ? "budget" : isFiles || isMoney ? "report" : state;
  const news = asOfNow(await (await fetch(`states/${recorded}.json`)).json());
  if (isFiles) withFiles(news, state);
  if (isMoney) withMoney(news, state);
  const model = new FakeModel(news, await (await fetch("states/threads.json")).json());
  Object.assign(globalThis, { galleryModel: model, galleryFiles: galleryFiles(state) }); // for experiments in the console
  panel.initialize({ model });
  panel.render({ model, el });
  if (state === "disconnected") setTimeout(() => model.emit("comm:close"), 300);
  for (const name of query.get("click")?.split("|") ?? []) {
    await new Promise((done) => setTimeout(done, 400));
    const found = [...document.querySelectorAll<HTMLElement>(".dn button, .dn summary, .dn [role=tab]")];
    found.find((each) => each.ariaLabel === name || each.textContent?.trim().startsWith(name))?.click();
  }
} else {
  const nav = document.createElement("nav");
  const states = (await (await fetch("states/index.json")).json()) as string[];
  for (const name of [...states, "files", "files-many", "files-none", "money", "money-asked", "money-refund"]) {
    for (const [more, label] of [["", name], ["&theme=dark", "dark"], ["&width=420", "narrow"]]) {
      const link = document.createElement("a");
      link.href = `?state=${name}${more}`;
      link.textContent = label!;
      nav.append(link);
    }
    nav.append(document.createElement("br"));
  }
  document.body.append(nav);
}

/** Recorded a while ago, shown as if it had just happened. */
function asOfNow(news: News): News {
  const shift = Date.now() / 1000 - 4 - (news.events.at(-1)?.time ?? 0);
  for (const event of news.events) event.time += shift;
  return news;
}
