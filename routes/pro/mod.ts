/**
 * Every endpoint of the Pro edition, in the order of the specification.
 *
 * @module
 */

import type { Deps } from "../../services/deps.ts";
import type { Endpoint } from "../endpoint.ts";

/** Under the edition's prefix. */
export const proEndpoints = (_deps: Deps): Endpoint[] => [];

/** Pages for everyone, which have addresses that people remember. */
export const proPages = (_deps: Deps): Endpoint[] => [];
