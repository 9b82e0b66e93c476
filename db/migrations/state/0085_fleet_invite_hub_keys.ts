// An invite has the fingerprint of the hub's key for links at the time when it was created. The times of
// both do not tell which one that was: the clock may have been set back.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0085_fleet_invite_hub_keys",
  sql: `
    ALTER TABLE fleet_invites ADD COLUMN hub_key TEXT NOT NULL DEFAULT ''; -- base64url
    UPDATE fleet_invites SET hub_key = COALESCE(
      (SELECT public_key FROM (
        SELECT public_key, created_at FROM fleet_keys WHERE purpose = 'link'
        UNION ALL SELECT public_key, created_at FROM fleet_hub_keys
      ) AS hub_keys WHERE hub_keys.created_at <= fleet_invites.created_at
      ORDER BY hub_keys.created_at DESC LIMIT 1),
      (SELECT public_key FROM fleet_keys WHERE purpose = 'link'),
      '');
  `,
};
