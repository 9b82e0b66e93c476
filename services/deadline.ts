/**
 * Waiting no longer than is useful.
 *
 * @module
 */

/**
 * What `promise` comes to, or `undefined` when that takes longer than `ms`. It is not ended then;
 * a failure after that is nobody's business.
 */
export async function withDeadline<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
