/** Sources of a `Content-Security-Policy`. @module */

import { nodeCrypto } from "../../services/builtins.ts";

/** Allows one inline style sheet or script by its hash. */
export const hashSource = (text: string): string =>
  `'sha256-${nodeCrypto().createHash("sha256").update(text).digest("base64")}'`;
