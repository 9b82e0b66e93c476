/** Compares responses with the API document. @module */

import Ajv from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { apiDocument, dereferenced, type Json } from "./api_document.ts";

/** A response, and the request that it answers. */
export interface Exchanged {
  method: string;
  /** Of the request; the query may be there. */
  path: string;
  status: number;
  /** `Content-Type` of the response. */
  type: string;
  /** The body; JSON is parsed. */
  body: unknown;
}

const ajv = new Ajv.default({
  strict: false,
  validateSchema: false,
  allErrors: true,
  logger: false,
});
addFormats.default(ajv);
// Schemas reference nothing else of the document, all of which Ajv would walk through.
ajv.addSchema({ components: apiDocument.components }, "document");

/** Path patterns, those without parameters first. */
const PATTERNS = Object.keys(apiDocument.paths)
  .sort((a, b) => a.split("{").length - b.split("{").length)
  .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}/?$`) }));

/**
 * @throws {Error} The document does not have the response's status, media type or the shape of its
 * JSON body.
 */
export function assertDocumented({ method, path, status, type, body }: Exchanged): void {
  // Not as a base: in `//name` the name would be a host.
  const { pathname } = new URL(`http://longshore.test${path}`);
  const found = PATTERNS.find(({ pattern }) => pattern.test(pathname));
  const key = method === "HEAD" ? "get" : method.toLowerCase();
  const operation = found && apiDocument.paths[found.path][key];
  // The answer to every unknown path or method, a preflight included, is the same.
  if (!operation) return;
  // The answer of another host, which has its own document.
  if (operation.responses.default) return;

  const where = `${operation.operationId} (${method} ${path}) answered ${status}`;
  const response = dereferenced(operation.responses[status]);
  if (!response) throw new Error(`${where}, which is not documented: ${JSON.stringify(body)}`);
  if (method === "HEAD" || body === undefined || body === "") return;

  const [media] = type.split(";", 1);
  const schema = response.content?.[media!]?.schema;
  if (!schema) throw new Error(`${where} as ${media}, which is not documented`);
  if (media !== "application/json") return;
  const validate = validatorOf(schema);
  if (validate(body)) return;
  throw new Error(
    `${where}, which does not have the documented shape: ${ajv.errorsText(validate.errors)}\n` +
      JSON.stringify(body).slice(0, 2_000),
  );
}

type Validate = ReturnType<typeof ajv.compile>;

/** By schema of the document. */
const validators = new Map<Json, Validate>();

/** By text, because responses have equal schemas. */
const compiled = new Map<string, Validate>();

/** A schema of the document, compiled once. */
function validatorOf(schema: Json): Validate {
  let validate = validators.get(schema);
  if (!validate) validators.set(schema, validate = compile(schema));
  return validate;
}

function compile(schema: Json): Validate {
  const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
  let validate = compiled.get(text);
  if (!validate) compiled.set(text, validate = ajv.compile(JSON.parse(text)));
  return validate;
}
