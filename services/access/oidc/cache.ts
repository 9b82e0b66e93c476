/** Metadata, keys and failures of OpenID Connect providers, in memory. @module */

import type { JSONWebKeySet } from "jose";
import type { AuthorizationServer } from "oauth4webapi";
import type { OutboundError } from "../../outbound/error.ts";
import type { Limiter } from "../../limiter.ts";
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

/** A fetch of metadata or keys: others wait for the one that runs, and its failure is kept. */
export interface SharedFetch {
  running: Promise<unknown> | undefined;
  failure: { error: unknown; atMs: number } | undefined;
}

/** By the provider's id; the number of providers is limited. */
export interface OidcCache {
  metadata: Map<string, CachedMetadata>;
  keys: Map<string, CachedKeys>;
  calls: Map<string, ProviderCalls>;
  fetches: Record<"metadata" | "keys", Map<string, SharedFetch>>;
  /** Limits of the logout tokens that are checked at the same time, which anyone can send. */
  logoutLimits: Map<string, Limiter>;
  /** When the logout tokens of the last minutes were accepted, by their hash; oldest first. */
  logoutTokens: Map<string, number>;
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
export function forgetProvider({ calls, fetches, keys, metadata }: OidcCache, id: string): void {
  for (const each of [metadata, keys, fetches.metadata, fetches.keys]) each.delete(id);
  const known = calls.get(id);
  if (known) known.failure = undefined;
}

export const createOidcCache = (): OidcCache => ({
  metadata: new Map(),
  keys: new Map(),
  calls: new Map(),
  fetches: { metadata: new Map(), keys: new Map() },
  logoutLimits: new Map(),
  logoutTokens: new Map(),
  checks: new Map(),
  tests: new Map(),
});
