/** Credentials that the engine passes on to a registry. @module */

export interface RegistryAuth {
  username?: string;
  password?: string;
  /** Instead of user name and password. */
  identitytoken?: string;
  serveraddress: string;
}

/** The header with credentials for a registry: base64url of JSON. */
export function registryAuthHeader(
  auth: RegistryAuth | undefined,
): Record<string, string> | undefined {
  return auth && {
    "X-Registry-Auth": new TextEncoder().encode(JSON.stringify(auth))
      .toBase64({ alphabet: "base64url" }),
  };
}
