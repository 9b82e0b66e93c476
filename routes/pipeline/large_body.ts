/**
 * Limits how many large bodies are in memory at the same time, each with its text, its values and
 * what the handler makes of them.
 *
 * @module
 */

import type { Endpoint } from "../contract/endpoint.ts";
import type { EndpointDeps, Serve } from "./request_context.ts";
import { lengthOf } from "./upload.ts";

/** Larger bodies are limited, in bytes. */
const LARGE_BYTES = 1024 * 1024;

/** Serves an endpoint whose body may be large, within the caller's share of large bodies. */
export function limitLargeBodies(
  { bodyBytesMax = 0 }: Endpoint,
  { largeBodies }: Pick<EndpointDeps, "largeBodies">,
  serve: Serve,
): Serve {
  if (bodyBytesMax <= LARGE_BYTES) return serve;
  return async (c) => {
    const length = lengthOf(c.req.raw.headers);
    if (length !== null && length <= LARGE_BYTES) return await serve(c);
    const release = largeBodies.take(c.get("caller"));
    try {
      return await serve(c);
    } finally {
      release();
    }
  };
}
