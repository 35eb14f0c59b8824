/** The panel's styles, in the order in which they build on each other. Nothing reaches outside `.dn`. */

import base from "./base.css";
import chat from "./chat.css";
import money from "./money.css";
import parts from "./parts.css";
import preferences from "./preferences.css";
import questions from "./questions.css";
import research from "./research.css";
import shell from "./shell.css";
import states from "./states.css";
import tabs from "./tabs.css";
import tokens from "./tokens.css";
import width from "./width.css";

export const STYLES = [tokens, base, parts, shell, chat, questions, tabs, research, money, states, width, preferences].join("\n");
