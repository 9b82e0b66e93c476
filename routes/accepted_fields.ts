/**
 * Fields that a request may have although its endpoint does not use them. Every other unknown
 * parameter or field is refused (`routes/validation.ts`).
 *
 * @module
 */

import * as z from "zod";
import type { Endpoint } from "./endpoint.ts";

/** What published clients of this API send in a body, by method and path. */
const SENT_BY_CLIENTS: Record<string, readonly string[]> = {
  // Mobile apps describe the device beside its token.
  "post /api/push/register": ["platform", "deviceId", "deviceName"],
  "post /api/push/unregister": ["platform", "deviceId", "deviceName"],
};

/**
 * The names of such fields in the body. A record that was read can be changed and sent back whole,
 * so a PUT takes every field that its own answer, or a GET of the same path, has.
 *
 * @param group The endpoints next to it.
 */
export function acceptedFields(endpoint: Endpoint, group: readonly Endpoint[]): readonly string[] {
  const sent = SENT_BY_CLIENTS[`${endpoint.method} ${endpoint.path}`] ?? [];
  if (endpoint.method !== "put" || !RECORD_PATH.test(endpoint.path)) return sent;
  const reads = group.filter(({ method, path }) => method === "get" && path === endpoint.path);
  return [...sent, ...[endpoint, ...reads].flatMap(({ returns }) => fieldNames(returns))];
}

/** A path of a whole record, not one of a part or an action (`/toggle`). */
const RECORD_PATH = /\/(:\w+|config)$/;

const fieldNames = (shape: z.ZodType) =>
  shape instanceof z.ZodObject ? Object.keys(shape.shape) : [];
