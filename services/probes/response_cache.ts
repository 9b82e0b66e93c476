/** Caches a response that is costly to compute. @module */

/**
 * Concurrent callers share one request. A failure reaches all of them and is not cached.
 *
 * @param maxAgeMs How long a response is cached, in milliseconds.
 */
export function cacheResponse<Response>(
  { maxAgeMs, now }: { maxAgeMs: number; now: () => Date },
  request: () => Promise<Response>,
): () => Promise<Response> {
  let cached: { response: Response; atMs: number } | undefined;
  let pending: Promise<Response> | undefined;

  const refresh = async () => {
    const response = await request();
    cached = { response, atMs: now().getTime() };
    return response;
  };

  return async () => {
    // Absolute, because the clock may have been set back.
    if (cached && Math.abs(now().getTime() - cached.atMs) < maxAgeMs) return cached.response;
    return await (pending ??= refresh().finally(() => pending = undefined));
  };
}
