/**
 * Every endpoint of the Enterprise edition, in the order of the specification.
 *
 * @module
 */

import type { Deps } from "../../services/deps.ts";
import type { Endpoint } from "../endpoint.ts";

/** Under the edition's prefix. */
export const enterpriseEndpoints = (_deps: Deps): Endpoint[] => [];
