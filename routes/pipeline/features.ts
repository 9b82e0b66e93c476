/** Names of the features of an edition, for 402 responses. @module */

import { type Edition, editionName } from "../../services/edition.ts";
import type { Endpoint } from "../contract/endpoint.ts";

/** Subject and verb, by the first word of the path under the edition's prefix. */
const FEATURES: Record<string, string> = {
  branding: "Branding needs",
  chatops: "Chat channels need",
  compliance: "The compliance log needs",
  encryption: "Encryption settings need",
  incidents: "Incidents need",
  "ip-allowlist": "The IP allowlist needs",
  mtls: "Mutual TLS needs",
  remediation: "Remediation rules need",
  roles: "Custom roles need",
  sla: "SLAs need",
  sso: "Single sign-on needs",
  "status-pages": "Status pages need",
  uptime: "Uptime monitors need",
};

/** Resources that are not named after the path; as in the sentences about a limit. */
const RESOURCES: Record<string, string> = {
  remediation: "remediation rules",
  uptime: "uptime monitors",
};

/** E.g. `Incidents need the Pro edition (incidents)`. */
export function editionNeeded({ path }: Pick<Endpoint, "path">, edition: Edition): string {
  const word = path.split("/")[1] ?? "";
  const feature = FEATURES[word] ?? "This feature needs";
  const resource = RESOURCES[word] ?? word.replaceAll("-", " ");
  return `${feature} the ${editionName(edition)} (${resource})`;
}
