/** /sso/sessions: sessions of users from identity providers. @module */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import {
  listSessions,
  purgeSessions,
  revokeSession,
} from "../../../services/enterprise/sso/sessions.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { Done, doneWith, paged, pagingQuery, Timestamp } from "../../contract/shapes.ts";

const Session = z.object({
  id: z.string(),
  provider_id: z.string(),
  user_id: z.string(),
  email: z.string().meta({ description: "Email from the identity provider" }),
  ip: z.string(),
  created_at: Timestamp,
  expires_at: Timestamp,
}).meta({ id: "SsoSession" });

const READ = { role: "admin", permission: "sso:read" } as const;
const WRITE = { role: "admin", permission: "sso:write" } as const;

export const ssoSessionEndpoints = (deps: Deps) => [
  endpoint("GET /sso/sessions", {
    operationId: "listSsoSessions",
    summary: "List active SSO sessions",
    description: "Newest first. Expired sessions, sessions that were logged out and sessions of " +
      "deleted users are not active.",
    ...READ,
    query: z.object(pagingQuery(100)),
    returns: paged({ sessions: z.array(Session) }).meta({ id: "SsoSessionPage" }),
  }, ({ query }) => listSessions(deps, query)),

  // Before `/:id`, which would match its path.
  endpoint("DELETE /sso/sessions/expired", {
    operationId: "deleteExpiredSsoSessions",
    summary: "Delete inactive SSO sessions",
    ...WRITE,
    returns: doneWith({ deleted: z.int() }).meta({ id: "SsoSessionPurge" }),
  }, () => ({ deleted: purgeSessions(deps) })),

  endpoint("DELETE /sso/sessions/:id", {
    operationId: "revokeSsoSession",
    summary: "Revoke an SSO session",
    description: "Its access tokens and its refresh token are rejected from the next request on.",
    ...WRITE,
    returns: Done,
    failures: { 404: "The session does not exist" },
  }, ({ params }) => revokeSession(deps, params.id)),
];
