/** Events about TLS certificates. @module */

import { joined, moment } from "../text.ts";
import { kind } from "./kind.ts";

export const certificateKinds = [
  kind("certificate.expiring", {
    data: {} as {
      domain: string;
      port: number;
      daysRemaining: number;
      /** ISO 8601, UTC. */
      expiresAt: string;
    },
    description: "A certificate of SSL_DOMAINS expires soon",
    group: "Certificates",
    words: "expires soon",
    title: "Certificate expires soon",
    name: (field) => field("domain") && field("domain") + joined(":", field("port")),
    lines: (field) => [
      joined("Days left: ", field("daysRemaining")),
      joined("Ends: ", moment(field("expiresAt"))),
    ],
    severity: "warning",
    page: "/probes",
    remedy: (field) => ({ text: "Open", to: `https://${field("domain")}:${field("port")}/` }),
    permission: "system:read",
  }),
];
