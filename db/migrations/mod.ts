/**
 * Every migration, oldest first. All run in every edition, so a new license needs no migration.
 *
 * @module
 */

import type { Migration } from "../migrate.ts";
import { migration as users } from "./0001_ce_users.ts";

/** Of `state.sqlite`. */
export const stateMigrations: readonly Migration[] = [users];

/** Of `metrics.sqlite`. */
export const metricsMigrations: readonly Migration[] = [];
