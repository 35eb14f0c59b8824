/** What the parts of the panel that are loaded later have in common with it, by the names of their modules. */

import * as preact from "preact";
import * as hooks from "preact/hooks";

import * as app from "./app";
import * as client from "./client";
import * as markdown from "./markdown/Markdown";
import * as clipboard from "./parts/clipboard";
import * as copyButton from "./parts/CopyButton";
import * as dragging from "./parts/dragging";
import * as elapsed from "./parts/Elapsed";
import * as format from "./parts/format";
import * as icon from "./parts/Icon";
import * as legible from "./parts/legible";
import * as memo from "./parts/memo";
import * as popover from "./parts/Popover";
import * as unique from "./parts/unique";
import * as task from "./parts/useTask";
import * as page from "./page";
import * as diff from "./questions/Diff";
import * as requests from "./questions/requests";
import * as traceWindow from "./tabs/traceWindow";
import * as wire from "./wire/wire";

export const SHARED: Readonly<Record<string, unknown>> = {
  preact,
  "preact/hooks": hooks,
  app,
  client,
  page,
  "markdown/Markdown": markdown,
  "parts/clipboard": clipboard,
  "parts/CopyButton": copyButton,
  "parts/dragging": dragging,
  "parts/Elapsed": elapsed,
  "parts/format": format,
  "parts/Icon": icon,
  "parts/legible": legible,
  "parts/memo": memo,
  "parts/Popover": popover,
  "parts/unique": unique,
  "parts/useTask": task,
  "questions/Diff": diff,
  "questions/requests": requests,
  "tabs/traceWindow": traceWindow,
  "wire/wire": wire,
};
