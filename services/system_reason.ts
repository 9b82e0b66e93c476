/**
 * Why the operating system or the runtime refused a file, in our words.
 *
 * @module
 */

/** What a caller may read of an error below the service, without the runtime's own hints and codes. */
export function systemReason(error: unknown): string {
  const { IsADirectory, NotADirectory, NotCapable, NotFound, PermissionDenied } = Deno.errors;
  if (error instanceof NotFound) return "it does not exist";
  if (error instanceof PermissionDenied) return "permission denied";
  if (error instanceof NotCapable) return "the service has no access to this path";
  if (error instanceof IsADirectory) return "it is a directory";
  if (error instanceof NotADirectory) return "a part of its path is not a directory";
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/ \(os error \d+\).*$/s, "");
}
