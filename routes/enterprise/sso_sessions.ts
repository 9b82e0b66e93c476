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

const READ = { role: "admin", permission: "sso:read" } as const;
const WRITE = { role: "admin", permission: "sso:write" } as const;

export const ssoSessionEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/sso/sessions",
    summary: "List active SSO sessions",
    description:
      "Newest first. A session is not active any more when it has expired, when somebody " +
      "logged out of it, and when its user was deleted.",
    ...READ,
    query: z.object(pagingQuery(100)),
    returns: paged({ sessions: z.array(Session) }),
  }, ({ query }) => listSessions(deps, query)),

  // Before `/:id`, which would take its path.
  endpoint({
    method: "delete",
    path: "/sso/sessions/expired",
    summary: "Delete the SSO sessions that are not active any more",
    ...WRITE,
    returns: Done.extend({ deleted: z.int() }),
  }, () => ({ ...done, deleted: purgeSessions(deps) })),

  endpoint({
    method: "delete",
    path: "/sso/sessions/:id",
    summary: "Revoke an SSO session",
    description: "Its access tokens and its refresh token are refused from the very next request " +
      "on.",
    ...WRITE,
    params: IdParams,
    returns: Done,
    failures: { 404: "There is no such session" },
  }, ({ params }) => {
    revokeSession(deps, params.id);
    return done;
  }),
];
