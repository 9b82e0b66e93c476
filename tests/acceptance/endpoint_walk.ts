/**
 * Requests to every endpoint of every edition: valid ones, and ones with a secret in a wrong place.
 *
 * @module
 */

import { everyRoute } from "../../routes/editions.ts";
import type { Deps } from "../../services/deps.ts";
import { apiDocument, dereferenced, type Json } from "../helpers/api_document.ts";

/** An endpoint of the API document. */
export interface Walked {
  /** Its place in the walk. */
  number: number;
  /** In capitals. */
  method: string;
  /** With parameters as `:name`. */
  pattern: string;
  produces: string;
  /** Names of the query parameters. */
  query: string[];
  /** The media type of its body and an example; `undefined` without a body. */
  body: { type: string; example: Record<string, unknown> } | undefined;
}

/** A request to send; `path` still contains the parameters. */
export interface Attempt {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Reads come first and deletions last, because deleted records cannot be read. */
const ORDER = ["GET", "PUT", "POST", "DELETE"];

export async function everyEndpoint(deps: Deps): Promise<Walked[]> {
  const routes = await everyRoute(deps);
  const walked = routes.flatMap(({ prefix, endpoints }) =>
    endpoints.map(({ method, path, produces = "application/json" }): Omit<Walked, "number"> => {
      const pattern = (prefix + path).replace(/(.)\/$/, "$1").replace(/\{.*\}/, "");
      const operation = apiDocument.paths[pattern.replace(/:(\w+)/g, "{$1}")][method];
      const [content] = Object.entries<Json>(operation.requestBody?.content ?? {});
      return {
        method: method.toUpperCase(),
        pattern,
        produces,
        query: operation.parameters.map(dereferenced).filter((each: Json) => each.in === "query")
          .map(({ name }: Json) => name),
        body: content && { type: content[0], example: exampleOf(content[1].schema) },
      };
    })
  );
  return ORDER.flatMap((method) => {
    const those = walked.filter((each) => each.method === method);
    // Children are deleted before their parents.
    const depth = ({ pattern }: Pick<Walked, "pattern">) => pattern.split("/").length;
    return method === "DELETE" ? those.sort((a, b) => depth(b) - depth(a)) : those;
  }).map((each, number) => ({ number, ...each }));
}

/** A value that fits a schema, its example if it has one. */
export function exampleOf({ $ref, ...rest }: Json): Json {
  const schema = { ...dereferenced({ $ref }), ...rest };
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const choice = (schema.anyOf ?? schema.oneOf ?? schema.allOf)?.[0];
  if (choice) return exampleOf(choice);
  switch (schema.type) {
    case "object": {
      const fields = Object.entries(schema.properties ?? {});
      return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field)]));
    }
    case "array":
      return [exampleOf(schema.items ?? {})];
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    default:
      return "an example long enough";
  }
}

/** A valid request. @param body Default: the example. */
export function rightRequest(
  { method, pattern, body }: Pick<Walked, "method" | "pattern" | "body">,
  given?: unknown,
): Attempt {
  return { method, path: pattern, ...written(body, given ?? body?.example) };
}

/** A request with a secret in a wrong place. */
export interface WrongAttempt extends Attempt {
  /** The secret and its place. */
  secret: string;
  place: string;
  /**
   * The secret may be taken for a name or a message, which is then shown like any other.
   */
  mayBeText?: true;
}

/** Requests with a secret in a wrong place. @param random Creates a secret. */
export function* wrongRequests(
  { number, method, pattern, body, query }: Walked,
  given: Record<string, unknown> | undefined,
  random: () => string,
): Generator<WrongAttempt> {
  const right = rightRequest({ method, pattern, body }, given);
  const wrong = (place: string, change: (secret: string) => Partial<Attempt>): WrongAttempt => {
    const secret = random();
    return { ...right, place, secret, ...change(secret) };
  };

  // One for each endpoint in turn: they are read before the endpoint matters.
  const credentials = Object.entries(WRONG_CREDENTIALS);
  const [place, header] = credentials[number % credentials.length]!;
  yield wrong(place, (secret) => ({
    headers: { ...right.headers, authorization: header(secret) },
  }));
  for (const parameter of pattern.match(/:\w+/g) ?? []) {
    yield wrong("a secret as a path parameter", (secret) => ({
      path: pattern.replace(parameter, secret),
    }));
  }
  yield wrong("a secret behind the path", (secret) => ({ path: `${pattern}/${secret}` }));
  // An accidental match must not delete records that later requests need.
  const harmless = method === "DELETE" ? pattern.replace(/:\w+$/, "unknown") : pattern;
  for (const name of query) {
    yield wrong("a secret as a query value", (secret) => ({
      path: `${harmless}?${name}=${secret}`,
    }));
  }
  yield wrong("a secret twice in the query", (secret) => ({
    path: `${harmless}?token=${secret}&token=${secret}`,
  }));
  yield wrong("a secret in the query", (secret) => ({
    path: `${harmless}?token=${secret}&access_token=${secret}&apiKey=${secret}&ticket=${secret}`,
  }));
  yield wrong("a secret as the name of a query value", (secret) => ({
    path: `${harmless}?${secret}=1`,
  }));
  yield wrong("a secret in the query of a wrong method", (secret) => ({
    method: "PATCH",
    path: `${pattern}?token=${secret}`,
  }));
  if (!body) return;

  const example = (given ?? body.example) as Record<string, unknown>;
  const sent = (place: string, change: (secret: string) => unknown) =>
    wrong(place, (secret) => written(body, change(secret)));
  const instead = (field: string, value: unknown) => ({ ...example, [field]: value });

  for (const [field, value] of Object.entries(example)) {
    yield* wrongValues(
      "",
      value,
      (place, change) => sent(place, (secret) => instead(field, change(secret))),
      field === "name",
    );
    if (typeof value !== "object" || value === null || Array.isArray(value)) continue;
    for (const [inner, innerValue] of Object.entries(value)) {
      yield* wrongValues(
        ", deeper",
        innerValue,
        (place, change) =>
          sent(place, (secret) => instead(field, { ...value, [inner]: change(secret) })),
        false,
      );
    }
  }
  yield sent("a secret in an unknown field", (password) => ({ ...example, password_: password }));
  yield sent("a secret in an empty body", (password) => ({ password_: password }));
  yield sent("a secret in a list instead of a body", (secret) => [secret]);
  yield sent("a secret instead of a body", (secret) => secret);
  yield wrong("a secret in a malformed body", (secret) => ({ body: `{"password":"${secret}` }));
  yield wrong("a secret in no JSON at all", (secret) => ({ body: `${secret}%=&&==` }));
  for (const type of ["text/plain", "application/xml", "multipart/form-data; boundary=x"]) {
    yield wrong("a secret in a body of the wrong type", (secret) => ({
      headers: { "content-type": type },
      body: JSON.stringify({ password: secret }),
    }));
  }
}

/** A secret instead of a value of a body. @param isName Names are shown, whatever becomes of them. */
function* wrongValues(
  where: string,
  value: unknown,
  sent: (place: string, change: (secret: string) => unknown) => WrongAttempt,
  isName: boolean,
): Generator<WrongAttempt> {
  yield sent(
    `a secret of the wrong type${where}`,
    (secret) => typeof value === "string" ? { [secret.slice(0, 1)]: [secret] } : secret,
  );
  const text = (place: string, change: (secret: string) => unknown): WrongAttempt => ({
    ...sent(place + where, change),
    mayBeText: true,
  });
  yield text("a secret that is too long", (secret) => secret.repeat(TOO_OFTEN));
  if (isName) return;
  yield text("a secret in the wrong field", (secret) => secret);
  yield text("a password in a URL", withPassword);
}

/** So often a secret is longer than what most fields take. */
const TOO_OFTEN = 400;

const withPassword = (secret: string) => `https://user:${secret}@192.0.2.9/path`;

const WRONG_CREDENTIALS: Record<string, (secret: string) => string> = {
  "a secret in an unknown scheme": (secret) => `Token ${secret}`,
  "a password of basic authentication": (secret) => `Basic ${btoa(`admin:${secret}`)}`,
  "a bearer token that is none": (secret) => `Bearer ${secret}`,
  "a token without a scheme": (secret) => secret,
  "a malformed token": (secret) => `Bearer eyJhbGciOiJIUzI1NiJ9.${btoa(secret)}.${secret}`,
};

function written(
  body: Walked["body"],
  value: unknown,
): { headers: Record<string, string>; body: string } | Record<never, never> {
  if (!body) return {};
  const text = body.type === "application/json" || typeof value !== "object" || value === null
    ? JSON.stringify(value)
    : new URLSearchParams(
      Object.entries(value).map((
        [name, field],
      ) => [name, typeof field === "string" ? field : JSON.stringify(field)]),
    ).toString();
  return { headers: { "content-type": body.type }, body: text };
}
