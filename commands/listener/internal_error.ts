/** The response to a request whose handling failed outside of the application. @module */

import { errorFields, type Log } from "../../services/log.ts";

export function respondInternalError(log: Log, error: unknown): Response {
  log.error("request failed outside of the application", errorFields(error));
  return new Response('{"error":"Internal error"}', {
    status: 500,
    headers: { "content-type": "application/json" },
  });
}
