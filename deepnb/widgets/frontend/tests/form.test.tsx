// @vitest-environment happy-dom
import { expect, test } from "vitest";

import { ArgsForm } from "../src/questions/ArgsForm";
import type { JsonObject } from "../src/questions/requests";
import { fieldsOf, filled, type Edits } from "../src/questions/schema";
import { panel } from "./app";

const SCHEMA = {
  properties: {
    url: { type: "string", minLength: 1 },
    save_as: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
    timeout: { type: "integer", minimum: 1, maximum: 120 },
    ratio: { type: "number" },
    follow: { type: "boolean", default: true },
    depth: { $ref: "#/$defs/Depth" },
    tags: { type: "array", items: { type: "string" }, maxItems: 3 },
    headers: { type: "object" },
    maybe: { anyOf: [{ type: "boolean" }, { type: "null" }] },
  },
  required: ["url", "timeout"],
  $defs: { Depth: { type: "string", enum: ["one", "all"] } },
};
const ARGS = {
  url: "https://a",
  save_as: "/x",
  timeout: 30,
  ratio: 0.5,
  follow: false,
  depth: "one",
  tags: ["a", "b"],
  headers: { A: 1 },
  maybe: null,
};

const fill = (edits: Edits, args: JsonObject = ARGS, schema: JsonObject | null = SCHEMA) =>
  filled(fieldsOf(schema, args), edits);

test("each argument gets the field that its schema asks for", () => {
  const kinds = Object.fromEntries(fieldsOf(SCHEMA, ARGS).map((field) => [field.name, field.kind]));
  expect(kinds).toEqual({
    url: "text",
    save_as: "text",
    timeout: "number",
    ratio: "number",
    follow: "switch",
    depth: "choice",
    tags: "list",
    headers: "json",
    maybe: "choice",
  });
});

test("without a schema, the fields follow the values", () => {
  const args = { text: "a", count: 2, flag: true, list: ["x"], mixed: [1, "x"], nested: {}, nothing: null };
  const fields = fieldsOf(null, args);
  expect(fields.map((field) => field.kind)).toEqual([
    "text",
    "number",
    "switch",
    "list",
    "json",
    "json",
    "json",
  ]);
  expect(filled(fields, { count: "3" })).toMatchObject({ args: { ...args, count: 3 }, changed: ["count"] });
});

test("what nobody has touched is sent exactly as it came, even against its schema", () => {
  const odd = { url: 5, timeout: "soon", tags: ["a\nb", ""], depth: "deeper", follow: "yes", extra: [null] };
  expect(fill({}, odd)).toEqual({ args: odd, changed: [], problems: new Map() });
  expect(fill({ url: "5", timeout: "soon" }, odd)).toEqual({ args: odd, changed: [], problems: new Map() });
});

test("types are kept", () => {
  const edits = {
    timeout: "60",
    ratio: "1e-3",
    follow: true,
    depth: "1",
    tags: "b\n\nc\n",
    headers: '{"B": [2]}',
    maybe: "1",
  };
  const { args, changed, problems } = fill(edits);
  expect(problems.size).toBe(0);
  expect(args).toEqual({
    ...ARGS,
    timeout: 60,
    ratio: 0.001,
    follow: true,
    depth: "all",
    tags: ["b", "c"],
    headers: { B: [2] },
    maybe: false,
  });
  expect(changed).toEqual(Object.keys(edits));
});

test("going back to what it was is no change", () => {
  expect(fill({ timeout: "30", tags: "a\nb", follow: false, headers: '{"A":1}' }).changed).toEqual([]);
});

test("empty means null where null may be, and is left out where nothing is needed", () => {
  expect(fill({ save_as: "", ratio: "" }).args).toMatchObject({ save_as: null });
  expect("ratio" in fill({ ratio: "" }).args).toBe(false);
  expect(fill({ save_as: "" }, { url: "a", timeout: 1 }).args).toEqual({ url: "a", timeout: 1 });
});

test.each([
  [{ timeout: "" }, "timeout", "A number is needed."],
  [{ timeout: "121" }, "timeout", "120 is the most."],
  [{ timeout: "0" }, "timeout", "1 is the least."],
  [{ timeout: "1.5" }, "timeout", "A whole number is needed."],
  [{ timeout: "12x" }, "timeout", "This is no number."],
  [{ url: "" }, "url", "This cannot be empty."],
  [{ tags: "a\nb\nc\nd" }, "tags", "3 are the most."],
  [{ headers: "[1]" }, "headers", "An object is needed: { … }."],
  [{ headers: "{" }, "headers", expect.stringContaining("This is no JSON")],
])("%j cannot be sent", (edits, name, why) => {
  expect(fill(edits as unknown as Edits).problems).toEqual(new Map([[name, why]]));
});

test("a text keeps its kind of line ends", () => {
  expect(fill({ text: "a\nb\nc" }, { text: "a\r\nb" }, null).args).toEqual({ text: "a\r\nb\r\nc" });
  expect(fill({ text: "a\nb" }, { text: "a\r\nb" }, null).changed).toEqual([]);
});

test("names from a prototype are names like any other", () => {
  const args = JSON.parse('{"__proto__": "x", "constructor": "y", "toString": "z"}');
  expect(fill({}, args, { properties: {} })).toMatchObject({ changed: [], problems: new Map() });
  expect(JSON.stringify(fill({ constructor: "new" }, args, { properties: {} }).args)).toBe(
    '{"__proto__":"x","constructor":"new","toString":"z"}',
  );
});

test("a form shows such names with their values, and marks what cannot be seen", () => {
  const { root, show } = panel();
  const fields = fieldsOf(null, { constructor: "y", path: "a\u202eb" });
  show(<ArgsForm fields={fields} edits={{}} state={filled(fields, {})} onEdit={() => {}} />);
  expect([...root.querySelectorAll("input")].map((input) => input.value)).toEqual(["y", "a\u202eb"]);
  expect(root.querySelectorAll("[aria-invalid=true]")).toHaveLength(0);
  expect(root.textContent).toContain("Holds characters that cannot be seen: \\u202e");
});
