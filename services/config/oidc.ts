/**
 * OpenID Connect providers of the environment: `OIDC_ISSUER` and the like, and `OIDC_2_ISSUER` for
 * the second.
 *
 * @module
 */

import { isProviderUrl, PROVIDER_URL_RULE } from "../input/provider_url.ts";
import { anyText, integer, list, oneOf, secretOf } from "./values.ts";

/** Limit of providers, of the environment and in total. */
export const OIDC_PROVIDERS_MAX = 10;

/** Limits of the longest duration of a session, in hours. */
export const SESSION_HOURS = { min: 1, max: 720, default: 24 } as const;

export const OIDC_SCOPES = "openid email profile";

/** Role of a group: a built-in role or the name of a custom one. */
interface GroupRole {
  value: string;
  role: string;
}

/** A provider of the environment. */
export interface OidcProviderConfig {
  /** E.g. `env-1`. */
  id: string;
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string | null;
  scopes: string;
  rolesClaim: string | null;
  roleMap: GroupRole[];
  defaultRole: "viewer" | "operator" | "admin" | null;
  allowedDomains: string[];
  mfaAcr: string[];
  sessionHours: number;
  autoProvision: boolean;
  linkByVerifiedEmail: boolean;
  /** Redirect URI; see `db/oidc_providers.ts`. */
  callback: "shared" | "issuer" | "own";
}

/** Fields by the end of the variable's name. */
export const OIDC_FIELDS = {
  issuer: { suffix: "ISSUER", meaning: "OpenID Connect: the provider's issuer URL", parse: issuer },
  clientId: { suffix: "CLIENT_ID", meaning: "Client ID at the provider", parse: anyText },
  clientSecret: {
    suffix: "CLIENT_SECRET",
    meaning: "Client secret at the provider",
    fallbackShown: "unset: a public client",
    secret: true,
    parse: secretOf(1, "characters"),
  },
  name: {
    suffix: "NAME",
    meaning: "Name on the sign-in page",
    fallbackShown: "the issuer's host",
    parse: anyText,
  },
  scopes: {
    suffix: "SCOPES",
    meaning: "Requested scopes, separated by spaces",
    fallback: OIDC_SCOPES,
    parse: scopes,
  },
  rolesClaim: {
    suffix: "ROLES_CLAIM",
    meaning: "Claim with the groups, e.g. groups or realm_access.roles",
    parse: anyText,
  },
  roleMap: {
    suffix: "ROLE_MAP",
    meaning: "Roles of groups: admins=admin,staff=viewer, or a JSON object",
    fallback: "",
    parse: roleMap,
  },
  defaultRole: {
    suffix: "DEFAULT_ROLE",
    meaning: "Role of users without a group of OIDC_ROLE_MAP",
    fallbackShown: "unset: refused",
    parse: oneOf(["viewer", "operator", "admin"]),
  },
  allowedDomains: {
    suffix: "ALLOWED_DOMAINS",
    meaning: "Domains of accepted (verified) addresses, comma-separated",
    fallback: "",
    fallbackShown: "unset: all",
    parse: (text: string) => list(text).map((domain) => domain.toLowerCase()),
  },
  mfaAcr: {
    suffix: "MFA_ACR",
    meaning: "Values of the acr claim that mean several factors, comma-separated",
    fallback: "",
    parse: (text: string) => list(text),
  },
  sessionHours: {
    suffix: "SESSION_HOURS",
    meaning: "Hours after which users sign in again",
    fallback: String(SESSION_HOURS.default),
    parse: integer(SESSION_HOURS.min, SESSION_HOURS.max),
  },
  autoProvision: {
    suffix: "AUTO_PROVISION",
    meaning: "Whether users are created: on or off",
    fallback: "on",
    parse: oneOf(["on", "off"]),
  },
  linkByVerifiedEmail: {
    suffix: "LINK_BY_VERIFIED_EMAIL",
    meaning: "Whether existing users are found by verified address: on or off",
    fallback: "off",
    parse: oneOf(["on", "off"]),
  },
  callback: {
    suffix: "CALLBACK",
    meaning: "Redirect URI: shared, or own for providers after the first that send no iss",
    fallback: "shared",
    parse: oneOf(["shared", "own"]),
  },
} as const;

type Values = {
  [Field in keyof typeof OIDC_FIELDS]: ReturnType<(typeof OIDC_FIELDS)[Field]["parse"]> | null;
};

/** `OIDC_` for the first provider, `OIDC_2_` for the second. */
export const oidcPrefix = (number: number): string => number === 1 ? "OIDC_" : `OIDC_${number}_`;

/** The numbers of all possible providers, from 1. */
export const OIDC_NUMBERS: readonly number[] = Array.from(
  { length: OIDC_PROVIDERS_MAX },
  (_, index) => index + 1,
);

/**
 * The provider of one number; `undefined` if none of its variables is set.
 *
 * @param isSet Whether one of its variables has a value.
 * @throws {Error} With a sentence for the operator.
 */
export function oidcProviderOf(
  number: number,
  values: Values,
  isSet: boolean,
): OidcProviderConfig | undefined {
  if (!isSet) return undefined;
  const { issuer, clientId } = values;
  for (const [field, value] of Object.entries({ issuer, clientId })) {
    if (value !== null) continue;
    const name = oidcPrefix(number) + OIDC_FIELDS[field as "issuer" | "clientId"].suffix;
    throw new Error(`${name} is required, because other variables of this provider are set`);
  }
  return {
    id: `env-${number}`,
    name: values.name ?? new URL(issuer!).host,
    issuer: issuer!,
    clientId: clientId!,
    clientSecret: values.clientSecret,
    scopes: values.scopes!,
    rolesClaim: values.rolesClaim,
    roleMap: values.roleMap!,
    defaultRole: values.defaultRole,
    allowedDomains: values.allowedDomains!,
    mfaAcr: values.mfaAcr!,
    sessionHours: values.sessionHours!,
    autoProvision: values.autoProvision === "on",
    linkByVerifiedEmail: values.linkByVerifiedEmail === "on",
    callback: values.callback === "shared" && number > 1 ? "issuer" : values.callback!,
  };
}

function issuer(text: string): string {
  if (!isProviderUrl(text) || /[?]/.test(text)) throw new Error(PROVIDER_URL_RULE);
  return text;
}

function scopes(text: string): string {
  if (!text.split(/\s+/).includes("openid")) throw new Error("must contain openid");
  return text.split(/\s+/).join(" ");
}

/** `value=role` pairs, or a JSON object for values with commas. */
function roleMap(text: string): GroupRole[] {
  const pairs = text.startsWith("{") ? jsonPairs(text) : list(text).map((pair) => {
    const at = pair.lastIndexOf("=");
    return [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()];
  });
  return pairs.map(([value, role]) => {
    if (!value || typeof role !== "string" || role === "") {
      throw new Error("must be group=role pairs, or a JSON object of roles by group");
    }
    return { value, role };
  });
}

function jsonPairs(text: string): [string, unknown][] {
  try {
    return Object.entries(JSON.parse(text));
  } catch (cause) {
    throw new Error("is not valid JSON", { cause });
  }
}
