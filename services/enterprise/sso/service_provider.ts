/** This service in its role as a SAML service provider. @module */

import { selectNameIdFormats } from "../../../db/enterprise/sso/providers.ts";
import type { Deps } from "../../deps.ts";
import { NAME_ID_EMAIL } from "../saml/name_id.ts";

/** Path of the single sign-on endpoints. */
const SSO_PATH = "/api/ext/service-enterprise/sso";

/** The values to configure at an identity provider. */
interface ServiceProvider {
  /** The entity ID, which is also the audience of assertions for this service. */
  entityId: string;
  /** The URL of the assertion consumer service. */
  acsUrl: string;
}

/** @param baseUrl The URL of this service without a trailing slash. */
const serviceProviderAt = (baseUrl: string): ServiceProvider => ({
  entityId: `${baseUrl}${SSO_PATH}/metadata`,
  acsUrl: `${baseUrl}${SSO_PATH}/acs`,
});

/**
 * Returns this service as configured at one identity provider: at `SERVICE_BASE_URL`, else at the
 * URL at which an admin last saved the provider. The `Host` header of a login is not used, because an
 * attacker could send an assertion for another service with that service's host name.
 */
export function serviceProviderFor(
  { serviceBaseUrl }: Pick<Deps["config"], "serviceBaseUrl">,
  { base_url }: { base_url: string },
): ServiceProvider {
  return serviceProviderAt(serviceBaseUrl ?? base_url);
}

/**
 * Returns the service provider's metadata (XML). It requests the NameID format of the enabled
 * providers, or email addresses if these differ or do not set one.
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
