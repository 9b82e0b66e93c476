/** Decisions from the claims of a user: groups, role, address, factors. @module */

import { includesRole, USER_ROLES, type UserRole } from "../caller.ts";
import type { OidcProvider } from "./provider.ts";

/** Claims about a user. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** Maximum number of groups of a user that are compared. */
const GROUPS_MAX = 2_000;

/** Roles that the groups of a user give. */
export interface GivenRoles {
  /** `null` for a user without a role. */
  role: UserRole | null;
  /** Names of custom roles. */
  customRoles: string[];
}

type RoleRules = Pick<OidcProvider, "rolesClaim" | "roleMap" | "defaultRole">;

/**
 * The highest built-in role of the user's groups and all custom ones. A user with only custom roles
 * is a viewer besides; without any, `defaultRole` decides.
 *
 * @param isCustom Whether a custom role has this name.
 */
export function rolesOf(
  { rolesClaim, roleMap, defaultRole }: RoleRules,
  claims: Claims,
  isCustom: (name: string) => boolean,
): GivenRoles {
  const groups = new Set(rolesClaim === null ? [] : groupsAt(claims, rolesClaim));
  const names = new Set(roleMap.filter(({ value }) => groups.has(value)).map(({ role }) => role));
  const customRoles = [...names].filter((name) => !isUserRole(name) && isCustom(name));
  const highest = USER_ROLES.filter((role) => names.has(role)).at(-1);
  const role = highest ?? (customRoles.length > 0 ? atLeastViewer(defaultRole) : defaultRole);
  return { role, customRoles };
}

/** Names of the custom roles that a provider's groups can give. */
export const customRoleNames = ({ roleMap }: Pick<OidcProvider, "roleMap">): string[] =>
  roleMap.map(({ role }) => role).filter((role) => !isUserRole(role));

export const isUserRole = (name: string): name is UserRole => USER_ROLES.includes(name as UserRole);

const atLeastViewer = (role: UserRole | null): UserRole =>
  role !== null && includesRole(role, "viewer") ? role : "viewer";

/**
 * The groups in a claim: a list or a single text. A claim of exactly that name wins over the path
 * `realm_access.roles`, because some names are URLs.
 */
export function groupsAt(claims: Claims, path: string): string[] {
  const value = ownValue(claims, path) ??
    path.split(".").reduce<unknown>((parent, name) => ownValue(parent, name), claims);
  return [value].flat().filter((each) => typeof each === "string" || typeof each === "number")
    .slice(0, GROUPS_MAX).map(String);
}

const ownValue = (parent: unknown, name: string): unknown =>
  typeof parent === "object" && parent !== null && Object.hasOwn(parent, name)
    ? (parent as Record<string, unknown>)[name]
    : undefined;

/** Whether the ID token has the groups and the address, so that nothing else has to be asked. */
export function isComplete(
  { rolesClaim }: Pick<OidcProvider, "rolesClaim">,
  claims: Claims,
): boolean {
  const hasGroups = rolesClaim === null || groupsAt(claims, rolesClaim).length > 0;
  return hasGroups && "email" in claims && "email_verified" in claims;
}

/** Joins the claims of both sources. Those of the ID token are signed and win. */
export function joinClaims(idToken: Claims, userInfo: Claims | undefined): Claims {
  if (!userInfo) return idToken;
  // Whether an address is verified is said of the one beside it: both are from one source, unless
  // both sources name the same address.
  const source = "email" in idToken ? idToken : userInfo;
  const isSame = idToken.email === userInfo.email;
  const { email } = source;
  const email_verified = source.email_verified ?? (isSame ? userInfo.email_verified : undefined);
  return { ...userInfo, ...idToken, email, email_verified };
}

export const emailOf = ({ email }: Claims): string | null =>
  typeof email === "string" && email !== "" ? email : null;

/** Only `true` counts: some providers send the text "false". */
export const isEmailVerified = ({ email_verified }: Claims): boolean => email_verified === true;

/** Whether the provider says that it has asked for several factors (RFC 8176, `amr`). */
export function hasSeveralFactors(
  { mfaAcr }: Pick<OidcProvider, "mfaAcr">,
  { amr, acr }: Claims,
): boolean {
  return (Array.isArray(amr) && amr.includes("mfa")) ||
    (typeof acr === "string" && mfaAcr.includes(acr));
}

/** Whether an address has one of the domains; exact, in any case. */
export function isOfDomain(email: string, domains: readonly string[]): boolean {
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return domains.some((allowed) => allowed.toLowerCase() === domain);
}
