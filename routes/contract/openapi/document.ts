/** The OpenAPI 3.1 document of the service. @module */

import type { EditionRoutes } from "../../editions.ts";
import { createComponents } from "./components.ts";
import { operationOf } from "./operation.ts";
import { headers, sharedResponses } from "./responses.ts";
import { TAGS } from "./tags.ts";

const DESCRIPTION = `Manages and monitors the container engine of one host.

Send \`Authorization: Bearer <accessToken>\` with every request, except where an operation needs \
no token. Get a token pair from \`POST /auth/token\` (key mode) or \`POST /auth/login\` (users mode).

Every error is \`{"error": "sentence"}\`. An unknown path is 404, and a method that a path does not \
have is 405 with the header \`Allow\`. Every path with GET also answers HEAD.`;

/** Builds the document. Pure: the same endpoints give the same document. */
export function openApiDocument(editions: readonly EditionRoutes[], version: string) {
  const components = createComponents();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { edition, prefix, endpoints } of editions) {
    for (const endpoint of endpoints) {
      const path = documentedPath(prefix + endpoint.path);
      (paths[path] ??= {})[endpoint.method] = operationOf(endpoint, path, edition, components);
    }
  }
  const responses = sharedResponses(components);
  return {
    openapi: "3.1.0",
    info: {
      title: "Longshore",
      summary: "Container host management",
      description: DESCRIPTION,
      version,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags: Object.entries(TAGS).flatMap(([edition, tags]) =>
      Object.entries(tags).map(([name, { description }]) => ({
        name,
        description,
        "x-edition": edition,
      }))
    ),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description:
            "An access token (JWT) or an API token (`lst_...`). `GET /metrics` accepts only " +
            "`METRICS_TOKEN` if it is set.",
        },
        ticket: {
          type: "apiKey",
          in: "query",
          name: "ticket",
          description: "A ticket from `POST /api/stream/ticket`, or for a terminal",
        },
        sessionCookie: {
          type: "apiKey",
          in: "cookie",
          name: "__Secure-longshore",
          description: "Set by `POST /auth/session`. Its name has a suffix, which depends on " +
            "`X-Page-Secret`; without TLS it begins with `longshore-`",
        },
        verifySecret: {
          type: "apiKey",
          in: "header",
          name: "X-Verify-Secret",
          description: "The value of `MTLS_VERIFY_SECRET`",
        },
      },
      schemas: components.schemas(),
      parameters: components.parameters(),
      responses,
      headers,
    },
  };
}

/**
 * `/api/containers/:id` is `/api/containers/{id}`. The last parameter may have a pattern (`:path{.+}`),
 * and a group's root has no trailing slash.
 */
const documentedPath = (path: string): string =>
  path.split("{")[0]!.replace(/:(\w+)/g, "{$1}").replace(/(.)\/$/, "$1");
