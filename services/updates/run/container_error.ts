/** Failures of one container among several. @module */

import { AppError } from "../../errors.ts";

export class ContainerError extends AppError {
  override readonly name = "ContainerError";

  /**
   * @param container Its name.
   * @param problem E.g. `exited with code 1`.
   */
  constructor(readonly container: string, problem: string, options?: ErrorOptions) {
    super("conflict", `${container} ${problem}`, options);
  }
}

/** Name of the container that failed; `null` if an error is not about one. */
export function failedContainer(error: unknown): string | null {
  if (error instanceof ContainerError) return error.container;
  // The error without values that must not be shown has the original one as its cause.
  return error instanceof Error && error.cause !== undefined ? failedContainer(error.cause) : null;
}
