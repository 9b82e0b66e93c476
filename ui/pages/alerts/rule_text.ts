/** Conditions of alert rules, with what they watch. @module */

import type { AlertScope } from "../../api/types.ts";
import { targetText } from "../../parts/target_text.ts";

/** E.g. `CPU > 90 % for 1 min`, `Restarts of a container ≥ 3 within 10 min: web*`. */
export const withTarget = (condition: string, scope: AlertScope | undefined): string =>
  condition + (scope && scope.target.kind !== "host" ? `: ${targetText(scope.target)}` : "");
