/** /auth/setup, /api/settings/users-mode and /api/setup: the first sign-in and the first steps. @module */

import * as z from "zod";
import { SETUP_CODE } from "../services/access/setup/code.ts";
import { changeToUsersMode, setUp } from "../services/access/setup/setup.ts";
import { isSetupRequired } from "../services/access/sign_in/mode.ts";
import { isGuideShown, setupProgress, showGuide, STEPS } from "../services/community/progress.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint } from "./contract/endpoint.ts";
import { clientOf } from "./pipeline/client.ts";
import { assertSameOrigin, pageHashOf, sessionCookie } from "./pipeline/session_cookie.ts";
import { THROTTLED, TokenPair } from "./users/login.ts";
import { Email, NewPassword, User, UserName } from "./users/shapes.ts";

const SetupState = z.object({
  required: z.boolean().meta({ description: "Whether neither an account nor a key exists yet" }),
  codeInForce: z.boolean().meta({
    description: "Whether the code of this start is still accepted; a restart makes another",
  }),
}).meta({ id: "SetupState" });

const FirstAccount = z.strictObject({
  name: UserName.optional(),
  email: Email,
  password: NewPassword,
}).meta({ id: "FirstAccount" });

const code = z.string().regex(SETUP_CODE, {
  error: "must be 12 letters and digits as in K7QF-2MXA-9RTD",
}).meta({ example: "K7QF-2MXA-9RTD" });

const SetupBody = z.union([
  z.strictObject({ code, account: FirstAccount }),
  z.strictObject({ code, key: z.literal(true) }),
]).meta({ id: "Setup" });

const SetupResult = TokenPair.extend({
  refreshToken: z.string().optional().meta({
    description: "Missing with `X-Page-Secret`, because it is in the cookie then",
  }),
  key: z.string().optional().meta({
    description: "The API key, if that was chosen; it is shown this once",
  }),
}).meta({ id: "SetupResult" });

const Step = z.object({ id: z.enum(STEPS), done: z.boolean(), why: z.string() })
  .meta({ id: "SetupStep" });

const Guide = z.strictObject({
  shown: z.boolean().meta({ description: "Whether the overview of the dashboard has them" }),
}).meta({ id: "SetupGuide", example: { shown: false } });

const Progress = z.array(Step).meta({ id: "SetupProgress" });

export const setupEndpoints = (deps: Deps) => [
  endpoint("GET /auth/setup", {
    operationId: "getSetup",
    summary: "Get the state of the setup",
    role: "public",
    returns: SetupState,
  }, () => {
    const required = isSetupRequired(deps.db, deps.config);
    return { required, codeInForce: required && deps.setupCode.isInForce };
  }),

  endpoint("POST /auth/setup", {
    operationId: "setUp",
    summary: "Set up a new server",
    description: "Takes the code that the service printed at its start. It creates the first " +
      "account, which is an admin, or the API key of a server without accounts, and signs in. " +
      "The code is valid for 60 minutes and for one setup; ten wrong ones end it. With " +
      "`X-Page-Secret` the session is one of a browser, see `POST /auth/session`.",
    role: "public",
    assertBrowser: (request) => assertSameOrigin(deps.config, request),
    headers: { "X-Page-Secret": "See `POST /auth/session`" },
    body: SetupBody,
    returns: SetupResult,
    replyHeaders: { "Set-Cookie": "The refresh token, with `X-Page-Secret`" },
    failures: {
      401: "The code is wrong, expired, or ended by wrong ones",
      403: "The request is from another origin",
      409: "The server is set up, or another client is setting it up",
      503: "Too many concurrent logins",
      ...THROTTLED,
    },
  }, async ({ body, caller, request, note, admit, setCookie }) => {
    const pageHash = pageHashOf(request) ?? null;
    const client = clientOf(caller, request);
    const pair = await setUp(deps, body, client, admit, pageHash);
    note.actor = pair.userId;
    if (pageHash === null) return pair;
    setCookie(sessionCookie(deps, request, pageHash, pair));
    const { refreshToken: _, ...result } = pair;
    return result;
  }),

  endpoint("GET /api/setup/progress", {
    operationId: "getSetupProgress",
    summary: "List first steps",
    description: "What a new server still lacks, in the order in which it is useful.",
    role: "admin",
    permission: "settings:read",
    returns: Progress,
  }, () => setupProgress(deps)),

  endpoint("GET /api/setup/guide", {
    operationId: "getSetupGuide",
    summary: "Get whether first steps are shown",
    role: "admin",
    permission: "settings:read",
    returns: Guide,
  }, () => ({ shown: isGuideShown(deps) })),

  endpoint("PUT /api/setup/guide", {
    operationId: "showSetupGuide",
    summary: "Show or hide first steps",
    description: "On the overview of the dashboard, for all admins.",
    role: "admin",
    permission: "settings:write",
    body: Guide,
    returns: Guide,
  }, ({ body }) => {
    showGuide(deps, body.shown);
    return body;
  }),

  endpoint("POST /api/settings/users-mode", {
    operationId: "changeToUsersMode",
    loginOnly: true,
    destructive: true,
    summary: "Change from key to accounts",
    description:
      "Creates the first account, which is an admin. The API key and its sessions end, " +
      "and the API tokens and devices of its holder belong to the account. Needs no restart. " +
      "Where `AUTH_MODE` or `API_KEY` is set, that has to be removed first.",
    role: "admin",
    body: z.strictObject({ account: FirstAccount }).meta({ id: "UsersMode" }),
    returns: User,
    status: 201,
    failures: {
      409: "Users mode is on, `AUTH_MODE` or `API_KEY` is set, or another user has this email",
    },
  }, async ({ body, note }) => {
    const user = await changeToUsersMode(deps, body.account);
    note.targets = [user.email, user.id];
    return user;
  }),
];
