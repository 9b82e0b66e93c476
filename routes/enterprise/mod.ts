/** Every endpoint of the Enterprise edition, in the order of the specification. @module */

import type { Deps } from "../../services/deps.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { brandingEndpoints } from "./branding.ts";
import { complianceChainEndpoints } from "./compliance/chain.ts";
import { complianceLogEndpoints } from "./compliance/logs.ts";
import { encryptionEndpoints } from "./encryption.ts";
import { ipAllowlistEndpoints } from "./ip_allowlist.ts";
import { mtlsAgentEndpoints } from "./mtls/agents.ts";
import { mtlsCaEndpoints } from "./mtls/ca.ts";
import { mtlsVerifyEndpoints } from "./mtls/verify.ts";
import { roleEndpoints } from "./roles.ts";
import { roleUserEndpoints } from "./role_users.ts";
import { ssoLoginEndpoints } from "./sso/login.ts";
import { ssoProviderEndpoints } from "./sso/providers.ts";
import { ssoSessionEndpoints } from "./sso/sessions.ts";

/** Paths are relative to the edition's prefix. */
export const enterpriseEndpoints = (deps: Deps): Endpoint[] => [
  ...ssoProviderEndpoints(deps),
  ...ssoLoginEndpoints(deps),
  ...ssoSessionEndpoints(deps),
  ...brandingEndpoints(deps),
  ...roleEndpoints(deps),
  ...roleUserEndpoints(deps),
  ...ipAllowlistEndpoints(deps),
  ...mtlsCaEndpoints(deps),
  ...mtlsAgentEndpoints(deps),
  ...mtlsVerifyEndpoints(deps),
  ...encryptionEndpoints(deps),
  ...complianceLogEndpoints(deps),
  ...complianceChainEndpoints(deps),
];
