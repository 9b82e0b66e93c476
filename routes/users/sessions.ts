/** /api/sessions and /api/users/:id/sessions: where users are signed in. @module */

import * as z from "zod";
import type { Caller } from "../../services/access/caller.ts";
import {
  listSessions,
  listUserSessions,
  revokeSession,
  revokeSessions,
} from "../../services/access/users/own_sessions.ts";
import { assertMayManage, findActiveUser } from "../../services/access/users/users.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint, type Note } from "../contract/endpoint.ts";
import { Done, paged, pagingQuery } from "../contract/shapes.ts";
import { Session, SessionPage, User } from "./shapes.ts";

const UserSession = Session.extend({ userId: z.string(), email: User.shape.email })
  .meta({ id: "UserSession" });

const WRITE = {
  role: "admin",
  loginOnly: true,
  permission: "users:write",
  returns: Done,
} as const;

const FORBIDDEN = { 403: "The role does not allow this, or the user has more permissions" };

export const userSessionEndpoints = (deps: Deps) => {
  const findManagedUser = (caller: Caller, id: string, note: Note) => {
    const user = findActiveUser(deps, id);
    note.targets = [user.email, user.id];
    assertMayManage(caller, user);
    return user;
  };

  return [
    endpoint("GET /api/sessions", {
      operationId: "listAllSessions",
      summary: "List the sessions of all users",
      description: "Last used first.",
      role: "admin",
      permission: "users:read",
      query: z.object({
        ...pagingQuery(100),
        user: z.string().optional().meta({ description: "Only those of the user with this id" }),
      }),
      returns: paged({ sessions: z.array(UserSession) }).meta({ id: "UserSessionPage" }),
      failures: { 404: "The user does not exist, or users mode is off" },
    }, ({ query: { user, ...page }, caller }) =>
      listUserSessions(
        deps,
        caller,
        user === undefined ? undefined : findActiveUser(deps, user).id,
        page,
      )),

    endpoint(
      "GET /api/users/:id/sessions",
      {
        operationId: "listUserSessions",
        summary: "List a user's sessions",
        description: "Last used first.",
        role: "admin",
        permission: "users:read",
        query: z.object(pagingQuery(100)),
        returns: SessionPage,
        failures: { 404: "The user does not exist, or users mode is off" },
      },
      ({ params, query, caller }) =>
        listSessions(deps, caller, findActiveUser(deps, params.id).id, query),
    ),

    endpoint("DELETE /api/users/:id/sessions", {
      operationId: "revokeUserSessions",
      summary: "Revoke a user's sessions",
      description: "Signs the user out everywhere. Open streams end immediately.",
      ...WRITE,
      failures: { ...FORBIDDEN, 404: "The user does not exist, or users mode is off" },
    }, ({ params, caller, note }) => {
      revokeSessions(deps, findManagedUser(caller, params.id, note).id);
    }),

    endpoint("DELETE /api/users/:id/sessions/:sessionId", {
      operationId: "revokeUserSession",
      summary: "Revoke a user's session",
      description: "Its tokens are rejected and its streams end immediately.",
      ...WRITE,
      failures: {
        ...FORBIDDEN,
        404: "The user or the session does not exist, or users mode is off",
      },
    }, ({ params, caller, note }) => {
      revokeSession(deps, findManagedUser(caller, params.id, note).id, params.sessionId);
    }),
  ];
};
