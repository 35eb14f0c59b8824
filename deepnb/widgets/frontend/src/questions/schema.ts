/** The fields of a form that follows a tool's JSON schema, or its arguments where there is none. */

import type { JsonValue } from "../protocol";
import { textOf } from "../parts/legible";
import { listOf, objectOf, type JsonObject } from "./requests";

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly help: string;
  readonly kind: "text" | "number" | "switch" | "choice" | "list" | "json";
  readonly required: boolean;
  /** Whether an empty field means null. */
  readonly nullable: boolean;
  /** What the agent has given; undefined if it has left it out. */
  readonly value: JsonValue | undefined;
  readonly options: readonly JsonValue[];
  readonly schema: JsonObject;
}

/** What a person has put into fields: texts, as typed, and switches. */
export type Edits = Readonly<Record<string, string | boolean>>;

/** Why a field cannot be sent as it is. */
export class FieldError extends Error {}

export function fieldsOf(schema: JsonObject | null, args: JsonObject): Field[] {
  const properties = objectOf(schema?.properties);
  const required = listOf(schema?.required);
  const names = [...new Set([...Object.keys(properties), ...Object.keys(args)])];
  return names.map((name) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    const property = Object.hasOwn(properties, name) ? objectOf(properties[name]) : {};
    const { own, nullable } = resolved(property, schema);
    const isRequired = schema ? required.includes(name) : value !== undefined;
    const options = optionsOf(own, nullable, value);
    const field = { name, schema: own, value, options, nullable, required: isRequired };
    const kind = kindOf(own, value, options);
    return { ...field, kind, label: labelOf(name), hint: hintOf(kind, field), help: textOf(own.description) };
  });
}

/** A schema without its references and without "or null". */
function resolved(property: JsonObject, root: JsonObject | null): { own: JsonObject; nullable: boolean } {
  const follow = (each: JsonObject): JsonObject => {
    const name = /^#\/(\$defs|definitions)\/(.+)$/.exec(textOf(each.$ref));
    const found = name ? objectOf(objectOf(root?.[name[1]!])[name[2]!]) : {};
    return { ...found, ...each };
  };
  const union = [...listOf(property.anyOf), ...listOf(property.oneOf)].map((each) => follow(objectOf(each)));
  const others = union.filter((each) => each.type !== "null");
  const types = listOf(property.type).filter((each) => each !== "null");
  const { anyOf: _any, oneOf: _one, ...plain } = property;
  const own = {
    ...follow(objectOf(listOf(property.allOf)[0])),
    ...(others.length === 1 ? others[0] : {}),
    ...follow(plain),
    ...(types.length === 1 ? { type: types[0] } : {}),
  };
  const nullable = others.length < union.length || listOf(property.type).includes("null");
  return { own: others.length > 1 ? { ...own, type: undefined } : own, nullable };
}

function optionsOf(own: JsonObject, nullable: boolean, value: JsonValue | undefined): JsonValue[] {
  const named = own.const !== undefined ? [own.const] : [...listOf(own.enum)];
  // A switch has no place for "not set".
  const all = !named.length && own.type === "boolean" && (nullable || value === null) ? [true, false] : named;
  if (!all.length) return [];
  if (nullable && !all.includes(null)) all.push(null);
  return value === undefined || all.some((each) => same(each, value)) ? all : [value, ...all];
}

function kindOf(own: JsonObject, value: JsonValue | undefined, options: readonly JsonValue[]): Field["kind"] {
  if (options.length) return "choice";
  const given = value ?? undefined;
  const type = textOf(own.type) || typeOf(given);
  if (type === "boolean" && (given === undefined || typeof given === "boolean")) return "switch";
  if ((type === "number" || type === "integer") && isScalar(given)) return "number";
  if (type === "string" && isScalar(given)) return "text";
  if (
    type === "array" &&
    isLines(given) &&
    textOf(objectOf(own.items).type || (given ? "string" : "")) === "string"
  )
    return "list";
  return "json";
}

function typeOf(value: JsonValue | undefined): string {
  return Array.isArray(value) ? "array" : value === undefined ? "json" : typeof value;
}

function isScalar(value: JsonValue | undefined): boolean {
  return value === undefined || typeof value === "string" || typeof value === "number";
}

function isLines(value: JsonValue | undefined): boolean {
  return (
    value === undefined ||
    (Array.isArray(value) && value.every((each) => typeof each === "string" && /^[^\r\n]+$/.test(each)))
  );
}

function labelOf(name: string): string {
  const words = name.replace(/[_-]+/g, " ").trim() || name;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function hintOf(kind: Field["kind"], field: Pick<Field, "schema" | "required">): string {
  const { minimum: least, maximum: most, type } = field.schema;
  const kinds = {
    text: "text",
    number: type === "integer" ? "whole number" : "number",
    switch: "yes or no",
    choice: "choice",
    list: "one per line",
    json: "JSON",
  };
  const range =
    least !== undefined && most !== undefined
      ? `${textOf(least)}–${textOf(most)}`
      : least !== undefined
        ? `from ${textOf(least)}`
        : most !== undefined
          ? `up to ${textOf(most)}`
          : "";
  return [kinds[kind], range, field.required ? "" : "optional"].filter(Boolean).join(", ");
}

/** What a field shows before anybody has touched it. */
export function shown(field: Field): string | boolean {
  const value = field.value ?? (field.value === undefined ? field.schema.default : null);
  if (field.kind === "switch") return value === true;
  if (field.kind === "choice") return String(field.options.findIndex((each) => same(each, value ?? null)));
  if (value === undefined || value === null) return "";
  if (field.kind === "list") return listOf(value).map(textOf).join("\n");
  return field.kind === "json" ? JSON.stringify(value, null, 2) : textOf(value).replace(/\r\n?/g, "\n");
}

/** What a field shows now. A model names the arguments, so "constructor" must be a name like any other. */
export function typedIn(field: Field, edits: Edits): string | boolean {
  return Object.hasOwn(edits, field.name) ? edits[field.name]! : shown(field);
}

/**
 * What a field means; undefined leaves the argument out. What was not changed keeps its value and type.
 *
 * @throws FieldError - if it cannot be sent.
 */
export function valueOf(field: Field, edits: Edits): JsonValue | undefined {
  const typed = typedIn(field, edits);
  if (typed === shown(field)) return field.value;
  if (typeof typed === "boolean") return typed;
  if (field.kind === "choice") return field.options[Number(typed)];
  if (typed.trim() === "" && (field.kind === "number" || field.kind === "json" || field.nullable)) {
    if (field.nullable) return null;
    if (!field.required) return undefined;
    throw new FieldError(field.kind === "number" ? "A number is needed." : "A value is needed.");
  }
  if (field.kind === "number") return numberOf(field, typed);
  if (field.kind === "list")
    return counted(
      field,
      typed.split("\n").filter((each) => each.trim()),
    );
  return field.kind === "json" ? jsonOf(field, typed) : wordsOf(field, typed);
}

function numberOf({ schema }: Field, typed: string): number {
  const value = Number(typed);
  if (!Number.isFinite(value)) throw new FieldError("This is no number.");
  if (schema.type === "integer" && !Number.isSafeInteger(value))
    throw new FieldError("A whole number is needed.");
  const limit = (name: string) => (typeof schema[name] === "number" ? (schema[name] as number) : null);
  const [least, most] = [limit("minimum"), limit("maximum")];
  const [above, below] = [limit("exclusiveMinimum"), limit("exclusiveMaximum")];
  if (least !== null && value < least) throw new FieldError(`${least} is the least.`);
  if (most !== null && value > most) throw new FieldError(`${most} is the most.`);
  if (above !== null && value <= above) throw new FieldError(`More than ${above} is needed.`);
  if (below !== null && value >= below) throw new FieldError(`Less than ${below} is needed.`);
  return value;
}

function wordsOf({ schema, value }: Field, typed: string): string {
  const length = [...typed].length;
  const { minLength: least, maxLength: most } = schema;
  if (typeof least === "number" && length < least)
    throw new FieldError(typed ? `At least ${least} characters are needed.` : "This cannot be empty.");
  if (typeof most === "number" && length > most) throw new FieldError(`${most} characters are the most.`);
  // A text box knows one kind of line end only; the file keeps its own.
  return typeof value === "string" && value.includes("\r\n") ? typed.replace(/\n/g, "\r\n") : typed;
}

function jsonOf(field: Field, typed: string): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(typed);
  } catch (error) {
    throw new FieldError(`This is no JSON: ${(error as Error).message}`);
  }
  const type = field.schema.type;
  if (type === "array" && !Array.isArray(value)) throw new FieldError("A list is needed: [ … ].");
  if (type === "object" && (typeof value !== "object" || value === null || Array.isArray(value)))
    throw new FieldError("An object is needed: { … }.");
  return Array.isArray(value) ? counted(field, value) : value;
}

function counted<T>({ schema }: Field, items: T[]): T[] {
  const { minItems: least, maxItems: most } = schema;
  if (typeof least === "number" && items.length < least)
    throw new FieldError(`At least ${least} are needed.`);
  if (typeof most === "number" && items.length > most) throw new FieldError(`${most} are the most.`);
  return items;
}

export interface Filled {
  readonly args: JsonObject;
  /** Names of the arguments that differ from what the agent has given. */
  readonly changed: readonly string[];
  /** By name, why an argument cannot be sent. */
  readonly problems: ReadonlyMap<string, string>;
}

/** The arguments as the form now says them. */
export function filled(fields: readonly Field[], edits: Edits): Filled {
  const args: [string, JsonValue][] = [];
  const changed: string[] = [];
  const problems = new Map<string, string>();
  for (const field of fields) {
    try {
      const value = valueOf(field, edits);
      if (!same(value, field.value)) changed.push(field.name);
      if (value !== undefined) args.push([field.name, value]);
    } catch (error) {
      problems.set(field.name, (error as Error).message);
      changed.push(field.name);
    }
  }
  return { args: Object.fromEntries(args), changed, problems };
}

function same(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
