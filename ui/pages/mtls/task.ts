/**
 * What is done in a dialog of the page.
 *
 * @module
 */

import type { Agent } from "../../api/types.ts";

export type Task =
  | { name: "new-authority" | "new-agent" }
  | { name: "edit-agent" | "details"; agent: Agent };
