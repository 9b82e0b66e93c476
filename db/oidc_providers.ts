/** The `oidc_providers` table: OpenID Connect providers that sign users in. @module */

import { boolean, json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const providers = table("oidc_providers", {
  id: text(),
  name: text(),
  /** The issuer identifier, which discovery begins with. */
  issuer: text(),
  clientId: text(),
  /** Sealed; `null` for a public client. */
  clientSecret: text<string | null>(),
  /** Requested scopes, separated by spaces. */
  scopes: text(),
  /** Name or dotted path of the claim with the user's groups; `null` leaves roles to this service. */
  rolesClaim: text<string | null>(),
  /** Roles by value of that claim. */
  roleMap: json<{ value: string; role: string }[]>(),
  /** The role of a user without a match; `null` refuses the user. */
  defaultRole: text<"viewer" | "operator" | "admin" | null>(),
  /** Domains of accepted addresses, in lower case; none for all. */
  allowedDomains: json<string[]>(),
  /** Values of the `acr` claim that mean several factors. */
  mfaAcr: json<string[]>(),
  /** Longest duration of a session. */
  sessionHours: number(),
  autoProvision: boolean(),
  linkByVerifiedEmail: boolean(),
  enabled: boolean(),
  /**
   * Redirect URI: the shared one (`shared` for the first provider, `issuer` for one whose answers
   * must name their issuer), or its own.
   */
  callback: text<"shared" | "issuer" | "own">(),
  /** ISO 8601, UTC. */
  createdAt: text(),
  updatedAt: text(),
}, { order: "name, id" });

/** One provider as stored. */
export type OidcProvider = Row<typeof providers>;

export const {
  find: selectOidcProvider,
  /** By name. */
  all: selectOidcProviders,
  count: countOidcProviders,
  insert: insertOidcProvider,
  save: updateOidcProvider,
  delete: deleteOidcProvider,
} = providers;

/** Whether one has the shared redirect URI without having to name its issuer. */
export const hasSharedOidcCallback = (db: Database): boolean =>
  providers.countWhere(db, "WHERE callback = 'shared'") > 0;

/** Whether there is an enabled one. */
export const hasEnabledOidcProvider = (db: Database): boolean =>
  providers.countWhere(db, "WHERE enabled = 1") > 0;
