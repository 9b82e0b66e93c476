import type { Migration } from "../../migrate.ts";

// Below 1 % of coverage the uptime is unknown: its column cannot hold NULL, so the coverage
// decides.
export const migration: Migration = {
  name: "0062_pro_sla_breach_coverage",
  sql: `
    ALTER TABLE sla_breaches ADD COLUMN coverage_percent REAL NOT NULL DEFAULT 100;
  `,
};
