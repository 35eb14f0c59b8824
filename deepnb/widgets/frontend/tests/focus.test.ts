import { afterEach, beforeEach, expect, test } from "vitest";

import { keepFocus } from "../src/focus";

let root: HTMLElement;
let stop: () => void;

beforeEach(() => {
  root = document.createElement("div");
  root.innerHTML = '<section><p><button id="a">A</button></p><button id="b">B</button></section>';
  document.body.append(root);
  stop = keepFocus(root);
});
afterEach(() => {
  stop();
  root.remove();
});

const button = (id: string) => root.querySelector<HTMLButtonElement>(`#${id}`)!;
const settled = () => new Promise((resolve) => setTimeout(resolve));

test("what is around has the focus when what had it is gone", async () => {
  button("a").focus();
  root.querySelector("p")!.remove();
  await settled();
  expect(document.activeElement).toBe(root.querySelector("section"));
});

test("what is switched off gets the focus back when it is on again", async () => {
  button("a").focus();
  button("a").disabled = true;
  await settled();
  expect(document.activeElement).toBe(root.querySelector("p"));
  button("a").disabled = false;
  await settled();
  expect(document.activeElement).toBe(button("a"));
});

test("a person who has gone elsewhere is left alone", async () => {
  button("a").focus();
  button("b").focus();
  button("a").disabled = true;
  await settled();
  expect(document.activeElement).toBe(button("b"));
  button("b").blur();
  await settled();
  root.querySelector("p")!.remove();
  await settled();
  expect(document.activeElement).toBe(document.body);
});
