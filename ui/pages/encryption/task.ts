/**
 * What is done in a dialog of the page.
 *
 * @module
 */

import type { KeyRotation } from "../../api/types.ts";

/** How a rotation ends. */
export type RotationEnd = Exclude<KeyRotation["status"], "pending">;

export type Task =
  | { name: "rotate" | "settings" }
  | { name: "result"; rotation: KeyRotation; status: RotationEnd };
