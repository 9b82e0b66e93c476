/** Metadata, keys and failures of OpenID Connect providers, in memory. @module */

import type { JSONWebKeySet } from "jose";
import type { AuthorizationServer } from "oauth4webapi";
import type { OutboundError } from "../../outbound/error.ts";
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

/** Requests to a provider. */
export interface ProviderCalls {
  running: number;
  /** Start those that wait, in their order. */
  waiting: (() => void)[];
  /** Why the provider could not be reached last. */
  failure: { error: OutboundError; atMs: number } | undefined;
}

/** By the provider's id; the number of providers is limited. */
export interface OidcCache {
  metadata: Map<string, CachedMetadata>;
  keys: Map<string, CachedKeys>;
  calls: Map<string, ProviderCalls>;
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

/** Forgets what is known of a provider, which may just have been corrected. */
export function forgetProvider({ calls, keys, metadata }: OidcCache, id: string): void {
  metadata.delete(id);
  keys.delete(id);
  const known = calls.get(id);
  if (known) known.failure = undefined;
}

export const createOidcCache = (): OidcCache => ({
  metadata: new Map(),
  keys: new Map(),
  calls: new Map(),
  checks: new Map(),
  tests: new Map(),
});
