/** The API document (OpenAPI 3.1), as far as the page shows it. @module */

import { ApiError, refusalOf, UNREACHABLE } from "../../api/client.ts";
import { EDITION_NAMES, type EditionName } from "../../state/edition.ts";
import { ROOT } from "../../state/root.ts";

/** A part that can be a reference to another one, with fields of its own. */
interface Referable {
  $ref?: string;
}

export interface Schema extends Referable {
  type?: string | string[];
  description?: string;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
  const?: unknown;
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

export interface Parameter extends Referable {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  example?: unknown;
  schema?: Schema;
}

interface Media {
  schema?: Schema;
  example?: unknown;
}

interface Content extends Referable {
  description?: string;
  /** By media type. */
  content?: Record<string, Media>;
}

interface RawOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content>;
  security?: unknown[];
  "x-edition": EditionName;
  "x-role"?: string;
  "x-permission"?: string;
  "x-destructive"?: boolean;
}

interface RawDocument {
  info: { title: string; version: string; description?: string };
  tags: { name: string; description?: string; "x-edition"?: EditionName }[];
  paths: Record<string, Record<string, RawOperation>>;
}

export interface Operation {
  id: string;
  /** In capitals. */
  method: string;
  path: string;
  summary: string;
  description: string;
  parameters: Parameter[];
  /** The body by media type. */
  body: Record<string, Media>;
  /** By status. */
  responses: [status: string, response: Content][];
  needsToken: boolean;
  /** The role `public` needs no token. */
  role: string | undefined;
  permission: string | undefined;
  /** It interrupts or removes something. */
  isDestructive: boolean;
  /** Everything that the search looks in. */
  words: string;
}

/** The operations of a tag. */
export interface Group {
  /** The id of its part of the page. */
  id: string;
  name: string;
  description: string | undefined;
  /** The edition that it needs, unless every edition has it. */
  edition: string | undefined;
  operations: Operation[];
}

/** The part that a reference leads to, with the fields next to the reference. */
export type Resolve = <Part extends Referable>(part: Part) => Part;

export interface ApiDocument {
  version: string;
  description: string;
  groups: Group[];
  resolve: Resolve;
}

const METHODS = ["get", "post", "put", "patch", "delete"];

/** References to references up to this many. */
const HOPS_MAX = 8;

/** @throws {ApiError} With a sentence for the user. */
export async function readDocument(signal: AbortSignal): Promise<ApiDocument> {
  const response = await fetch(new URL("openapi.json", ROOT), { signal, credentials: "omit" })
    .catch((error) => {
      throw signal.aborted ? error : new ApiError(0, UNREACHABLE);
    });
  if (!response.ok) throw await refusalOf(response);
  return toDocument(await response.json());
}

/** Groups the operations by tag, in the order of the document. */
export function toDocument(raw: RawDocument): ApiDocument {
  const resolve = resolverOf(raw);
  const operations = Object.entries(raw.paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const operation = methods[method];
      const tag = operation?.tags[0];
      return operation ? [{ tag, ...toOperation(method, path, operation, resolve) }] : [];
    })
  );
  const groups = raw.tags.map((tag) => ({
    id: `group-${tag.name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`,
    name: tag.name,
    description: tag.description,
    edition: editionName(tag["x-edition"]),
    operations: operations.filter((operation) => operation.tag === tag.name),
  }));
  const { version, description = "" } = raw.info;
  return {
    version,
    description,
    groups: groups.filter(({ operations }) => operations.length > 0),
    resolve,
  };
}

const editionName = (edition: EditionName = "ce"): string | undefined =>
  edition === "ce" ? undefined : EDITION_NAMES[edition];

function resolverOf(document: unknown): Resolve {
  const targetOf = (reference: string): unknown =>
    reference.slice(2).split("/")
      .map((key) => decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~"))
      // deno-lint-ignore no-explicit-any
      .reduce((part: any, key) => part?.[key], document);
  const resolve = <Part extends Referable>({ $ref, ...own }: Part, hops = 0): Part => {
    if ($ref === undefined || hops > HOPS_MAX) return own as Part;
    return { ...resolve((targetOf($ref) ?? {}) as Part, hops + 1), ...own };
  };
  return (part) => resolve(part);
}

function toOperation(method: string, path: string, raw: RawOperation, resolve: Resolve): Operation {
  const parameters = (raw.parameters ?? []).map(resolve);
  const body = raw.requestBody ? resolve(raw.requestBody).content ?? {} : {};
  const fields = resolve(body["application/json"]?.schema ?? {}).properties ?? {};
  const words = [
    ...[method, path, raw.summary, raw.description, raw.tags[0], raw.operationId],
    ...[editionName(raw["x-edition"]), raw["x-role"], raw["x-permission"]],
    ...parameters.flatMap(({ name, description }) => [name, description]),
    ...Object.entries(fields).flatMap(([name, { description }]) => [name, description]),
  ];
  return {
    id: raw.operationId,
    method: method.toUpperCase(),
    path,
    summary: raw.summary,
    description: raw.description ?? "",
    parameters,
    body,
    responses: Object.entries(raw.responses),
    needsToken: raw.security?.length !== 0,
    role: raw["x-role"],
    permission: raw["x-permission"],
    isDestructive: raw["x-destructive"] ?? false,
    words: words.filter(Boolean).join(" "),
  };
}
