/** /openapi.json and /docs: the API document, and a page to read and try it. @module */

import * as z from "zod";
import type { Deps } from "../services/deps.ts";
import { createApiPage } from "./api_page/page.ts";
import { rawEndpoint } from "./contract/endpoint.ts";
import { JSON_HEADERS } from "./pipeline/response_cache.ts";
import {
  createRepresentation,
  type Representation,
  sendRepresentation,
} from "./pipeline/representation.ts";

/** Common parts of the endpoints that serve files of the page. */
const PAGE_FILE = {
  role: "public",
  ignoresUnknown: true,
  returns: z.string(),
  etag: true,
} as const;

/** @param openApi The document as JSON; created on the first request. */
export function apiDocumentEndpoints(_deps: Deps, openApi: () => Promise<string>) {
  let document: Promise<Representation> | undefined;
  const createDocument = async () =>
    createRepresentation(await openApi(), { ...JSON_HEADERS, "cache-control": "no-cache" }, 9);

  // Created on the first request, because most hosts never need the page.
  let page: Map<string, Representation> | undefined;
  const servePage = (path: string, request: Request) => {
    page ??= createApiPage();
    return sendRepresentation(page.get(path)!, request);
  };

  return [
    rawEndpoint("GET /openapi.json", {
      operationId: "getOpenApiDocument",
      summary: "Get the OpenAPI document",
      role: "public",
      produces: "application/json",
      returns: z.looseObject({ openapi: z.literal("3.1.0") }).meta({ id: "OpenApiDocument" }),
      etag: true,
    }, async ({ request }) => {
      document ??= createDocument();
      return sendRepresentation(await document, request);
    }),

    rawEndpoint("GET /docs", {
      ...PAGE_FILE,
      operationId: "getDocs",
      summary: "Get the API documentation page",
      produces: "text/html",
    }, ({ request }) => servePage("/docs", request)),

    rawEndpoint("GET /docs/page.css", {
      ...PAGE_FILE,
      operationId: "getDocsStyle",
      summary: "Get the documentation page's style",
      produces: "text/css",
    }, ({ request }) => servePage("/docs/page.css", request)),

    rawEndpoint("GET /docs/page.js", {
      ...PAGE_FILE,
      operationId: "getDocsScript",
      summary: "Get the documentation page's script",
      produces: "text/javascript",
    }, ({ request }) => servePage("/docs/page.js", request)),
  ];
}
