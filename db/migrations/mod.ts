/**
 * Every migration, oldest first. All run in every edition, so a new license needs no migration.
 *
 * @module
 */

import type { Migration } from "../migrate.ts";
import { migration as users } from "./0001_ce_users.ts";
import { migration as audit } from "./0002_ce_audit.ts";

/** Of `state.sqlite`. */
export const stateMigrations: readonly Migration[] = [users, audit];

/** Of `metrics.sqlite`. */
export const metricsMigrations: readonly Migration[] = [];
