/** The responses of the API document that many operations share. @module */

import type { Edition } from "../../../services/edition.ts";
import type { Endpoint } from "../endpoint.ts";
import { isProbe } from "../../pipeline/rate_limit.ts";
import { EditionLimitBody, ErrorBody } from "../shapes.ts";
import type { Components } from "./components.ts";

/** Shared response headers. */
export const headers = {
  RequestId: {
    description: "The request's own `X-Request-Id` if it is well-formed, or a new one",
    schema: { type: "string" },
  },
  ETag: {
    description: "Version of the response, for `If-None-Match`",
    schema: { type: "string" },
  },
  Allow: { description: "The methods of the path", schema: { type: "string" } },
  RetryAfter: {
    description: "Seconds to wait before the next request",
    schema: { type: "integer" },
  },
  RateLimit: {
    description: "Remaining requests (`r`) and seconds until more are available (`t`)",
    schema: { type: "string" },
  },
  WwwAuthenticate: { description: "Always `Bearer`", schema: { type: "string" } },
} as const;

/** The header that every response has, and further ones. */
export const responseHeaders = (further: Record<string, keyof typeof headers> = {}) =>
  Object.fromEntries(
    Object.entries({ "X-Request-Id": "RequestId", ...further })
      .map(([name, header]) => [name, { $ref: `#/components/headers/${header}` }]),
  );

interface SharedResponse {
  name: string;
  description: string;
  headers?: Record<string, keyof typeof headers>;
}

const FAILURES: Record<string, SharedResponse> = {
  400: { name: "BadRequest", description: "The request is not valid; the error names the field" },
  401: {
    name: "Unauthorized",
    description: "The token is missing, expired or revoked",
    headers: { "WWW-Authenticate": "WwwAuthenticate" },
  },
  402: {
    name: "EditionRequired",
    description: "The edition does not include this feature, or its limit is reached",
  },
  403: {
    name: "Forbidden",
    description: "The role or the API token does not allow this, or the IP allowlist rejects the " +
      "address",
  },
  404: {
    name: "NotFound",
    description: "The resource does not exist, or is outside of the token's scope",
  },
  409: { name: "Conflict", description: "The current state does not allow this" },
  412: { name: "PreconditionFailed", description: "The object has changed" },
  413: { name: "ContentTooLarge", description: "The body is too large" },
  415: { name: "UnsupportedMediaType", description: "The body has another media type" },
  428: { name: "PreconditionRequired", description: "A header with a condition is missing" },
  429: {
    name: "TooManyRequests",
    description: "Too many requests from this address",
    headers: { "Retry-After": "RetryAfter", RateLimit: "RateLimit" },
  },
  500: {
    name: "InternalError",
    description: "Internal error; the log has the details under the request id",
  },
  502: { name: "BadGateway", description: "The other system failed or refused" },
  503: {
    name: "Unavailable",
    description: "Temporarily unavailable, e.g. because the disk is full",
  },
  default: {
    name: "Failure",
    description: "Any other failure, e.g. 405 for a method that the path does not have",
    headers: { Allow: "Allow" },
  },
};

export function sharedResponses({ schemaOf }: Components) {
  const failures = Object.entries(FAILURES).map((
    [status, { name, description, headers }],
  ) => [name, {
    description,
    headers: responseHeaders(headers),
    content: {
      "application/json": {
        schema: schemaOf(status === "402" ? EditionLimitBody : ErrorBody, "output"),
      },
    },
  }]);
  return {
    NotModified: {
      description: "The client's copy is current",
      headers: responseHeaders({ ETag: "ETag" }),
    },
    ...Object.fromEntries(failures),
  };
}

/** References to all failures of an operation. */
export function failuresOf(endpoint: Endpoint, path: string, edition: Edition) {
  const { role, failures = {} } = endpoint;
  // A body is read and refused even where none is expected.
  const mayHaveBody = endpoint.method !== "get";
  const general = {
    400: true,
    401: role !== "public",
    402: edition !== "ce" && !endpoint.hiddenUnlicensed,
    403: !endpoint.anyAddress || role !== "public" && role !== "viewer",
    // An API token that is limited to stacks or containers cannot use it.
    404: role !== "public" && (endpoint.scope === undefined || endpoint.showsServer === true),
    413: mayHaveBody,
    415: mayHaveBody,
    429: !isProbe(path),
    500: true,
    503: endpoint.method !== "get",
  };
  const statuses = Object.entries(general).filter(([, isPossible]) => isPossible);
  const described: Record<string, string | undefined> = {
    ...Object.fromEntries(statuses.map(([status]) => [status, undefined])),
    ...failures,
  };
  return {
    ...Object.fromEntries(
      Object.entries(described).map((
        [status, description],
      ) => [status, reference(status, description)]),
    ),
    default: reference("default"),
  };
}

function reference(status: string, description?: string) {
  const shared = FAILURES[status];
  if (!shared) throw new Error(`No shared response for status ${status}`);
  return {
    $ref: `#/components/responses/${shared.name}`,
    ...(description !== undefined && { description }),
  };
}
