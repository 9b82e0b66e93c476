/**
 * Body fields that an endpoint accepts and ignores. `routes/pipeline/body.ts` refuses all other
 * unknown fields.
 *
 * @module
 */

import * as z from "zod";
import type { Endpoint } from "./endpoint.ts";

/** Fields that published clients send, by method and path. */
const SENT_BY_CLIENTS: Record<string, readonly string[]> = {
  // Mobile apps describe the device next to its token.
  "post /api/push/register": ["platform", "deviceId", "deviceName"],
  "post /api/push/unregister": ["platform", "deviceId", "deviceName"],
};

/**
 * Lists the ignored fields of an endpoint. A client can read a record, change it and send all of it
 * back, so a PUT accepts every field of its own response and of the GET of the same path.
 *
 * @param group All endpoints of the edition.
 */
export function acceptedFields(endpoint: Endpoint, group: readonly Endpoint[]): readonly string[] {
  const sent = SENT_BY_CLIENTS[`${endpoint.method} ${endpoint.path}`] ?? [];
  if (endpoint.method !== "put" || !RECORD_PATH.test(endpoint.path)) return sent;
  const reads = group.filter(({ method, path }) => method === "get" && path === endpoint.path);
  return [...sent, ...[endpoint, ...reads].flatMap(({ returns }) => fieldNames(returns))];
}

/** The path of a whole record, not of a part or an action (`/toggle`). */
const RECORD_PATH = /\/(:\w+|config|settings)$/;

const fieldNames = (shape: z.ZodType) =>
  shape instanceof z.ZodObject ? Object.keys(shape.shape) : [];
