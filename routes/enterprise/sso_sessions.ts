/**
 * /sso/sessions: logins for which an identity provider vouched.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import {
  listSessions,
  purgeSessions,
  revokeSession,
} from "../../services/enterprise/sso_sessions.ts";
import { endpoint } from "../endpoint.ts";
import { Done, done, IdParams, paged, pagingQuery, Timestamp } from "../shapes.ts";

const Session = z.object({
  id: z.string(),
  provider_id: z.string(),
  user_id: z.string(),
  email: z.string().meta({ description: "As the identity provider wrote it" }),
  ip: z.string(),
  created_at: Timestamp,
  expires_at: Timestamp,
});

export const ssoSessionEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/sso/sessions",
    summary: "List active SSO sessions",
    description: "Newest first. One that was logged out of, or whose user is gone, is not active.",
    role: "admin",
    permission: "sso:read",
    query: z.object(pagingQuery(100)),
    returns: paged({ sessions: z.array(Session) }),
  }, ({ query }) => listSessions(deps, query)),

  // Before `/:id`, which would take its path.
  endpoint({
    method: "delete",
    path: "/sso/sessions/expired",
    summary: "Forget the SSO sessions that are not active any more",
    role: "admin",
    permission: "sso:write",
    returns: Done.extend({ deleted: z.int() }),
  }, () => ({ ...done, deleted: purgeSessions(deps) })),

  endpoint({
    method: "delete",
    path: "/sso/sessions/:id",
    summary: "Revoke an SSO session",
    description: "Its access tokens and its refresh token are refused at once.",
    role: "admin",
    permission: "sso:write",
    params: IdParams,
    returns: Done,
    failures: { 404: "There is no such session" },
  }, ({ params }) => {
    revokeSession(deps, params.id);
    return done;
  }),
];
