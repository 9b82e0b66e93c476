/** Reasons of failed file operations, as part of error messages. @module */

/** Describes an error for users, without the runtime's hints and codes. */
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
