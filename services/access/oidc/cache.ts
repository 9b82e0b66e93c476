/** Metadata and keys of OpenID Connect providers, in memory. @module */

import type { JSONWebKeySet } from "jose";
import type { AuthorizationServer } from "oauth4webapi";
import type { UserRole } from "../caller.ts";

/** The result of discovery. */
interface CachedMetadata {
  issuer: string;
  server: AuthorizationServer;
  fetchedAtMs: number;
}

/** Public keys of a provider, from its `jwks_uri`. */
export interface CachedKeys {
  url: string;
  set: JSONWebKeySet;
  fetchedAtMs: number;
}

/** By the provider's id; the number of providers is limited. */
export interface OidcCache {
  metadata: Map<string, CachedMetadata>;
  keys: Map<string, CachedKeys>;
  /** Checks of a session's roles that are running, by session. */
  checks: Map<string, Promise<void>>;
  /** Results of the last test sign-ins, by provider and admin. */
  tests: Map<string, TestResult>;
}

/** The claims that a test sign-in received. */
export interface TestResult {
  atMs: number;
  /** Why it failed; `null` if it did not. */
  error: string | null;
  claims: Record<string, unknown>;
  role: UserRole | null;
  customRoles: string[];
  secondFactor: boolean;
}

export const createOidcCache = (): OidcCache => ({
  metadata: new Map(),
  keys: new Map(),
  checks: new Map(),
  tests: new Map(),
});
