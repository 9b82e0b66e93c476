/**
 * This service as identity providers know it: a SAML service provider.
 *
 * @module
 */

import { selectNameIdFormats } from "../../../db/enterprise/sso/providers.ts";
import type { Deps } from "../../deps.ts";
import { NAME_ID_EMAIL } from "../saml/name_id.ts";

/** Where single sign-on is served, below the service's address. */
const SSO_PATH = "/api/ext/service-enterprise/sso";

/** What an identity provider has to be told of this service. */
export interface ServiceProvider {
  /** Its name, which is the audience of assertions that are meant for it. */
  entityId: string;
  /** Where assertions are sent. */
  acsUrl: string;
}

/** @param baseUrl The service's address without a slash at its end. */
export const serviceProviderAt = (baseUrl: string): ServiceProvider => ({
  entityId: `${baseUrl}${SSO_PATH}/metadata`,
  acsUrl: `${baseUrl}${SSO_PATH}/acs`,
});

/**
 * This service as one identity provider has to name it: by `SERVICE_BASE_URL`, else by the address
 * at which an admin last saved the provider. Never by the `Host` of whoever brings a message: they
 * could say that they reached another service, and bring an assertion that was made for that one.
 */
export function serviceProviderFor(
  { serviceBaseUrl }: Pick<Deps["config"], "serviceBaseUrl">,
  { base_url }: { base_url: string },
): ServiceProvider {
  return serviceProviderAt(serviceBaseUrl ?? base_url);
}

/**
 * The service provider's metadata (XML) with the kind of name that all enabled providers are asked
 * for; email addresses where they differ or leave it open, for users are found by these.
 */
export async function describeServiceProvider(
  { db }: Pick<Deps, "db">,
  baseUrl: string,
): Promise<string> {
  const { spMetadata } = await import("../saml/metadata.ts");
  const [format = NAME_ID_EMAIL, ...others] = selectNameIdFormats(db);
  return spMetadata({
    ...serviceProviderAt(baseUrl),
    nameIdFormat: others.length === 0 ? format : NAME_ID_EMAIL,
  });
}
