/**
 * The service reveals no secret in a response, a log line, an audit or compliance entry, an export, a
 * backup listing or an error.
 *
 * Every secret that the service receives or creates is a planted one that resembles no other text.
 * Every endpoint of every edition is called with valid requests and with secrets in wrong places;
 * deliveries go to receivers that repeat what they receive. Then all output is searched.
 *
 * @module
 */

import { selectJobs, selectUnfinishedJobs } from "../../db/jobs.ts";
import { equal, ok } from "node:assert/strict";
import { insertAlertEvent } from "../../db/alert_events.ts";
import { selectUser } from "../../db/users.ts";
import type { UserRole } from "../../services/access/caller.ts";
import { forwardEvents } from "../../services/live/broadcaster.ts";
import { readConfig } from "../../services/config/config.ts";
import { emit } from "../../services/events/emit.ts";
import { pageSecret } from "../helpers/browser_session.ts";
import { deliverDue } from "../helpers/outbox_delivery.ts";
import { unsubscribeToken } from "../../services/pro/status_pages/subscriber_address.ts";
import { runCommand, temporaryDirectory } from "../helpers/command.ts";
import { licenseKeyFor, writeLicenseKeys } from "../helpers/licenses.ts";
import { ssoTest } from "../helpers/sso.ts";
import { testApp } from "../helpers/test_app.ts";
import {
  type Attempt,
  everyEndpoint,
  rightRequest,
  type Walked,
  wrongRequests,
} from "./endpoint_walk.ts";
import { hostileReceiver } from "./hostile_receiver.ts";
import { plantedSecrets, randomText } from "./planted_secrets.ts";
import { until } from "../helpers/until.ts";
import {
  environmentOf,
  FOREIGN_STACK,
  type PlantedService,
  plantedService,
  SLOW_IMAGE,
} from "./planted_service.ts";
import {
  createKeys,
  ENTERPRISE,
  filled,
  type Holder,
  type Keys,
  plantedPassword,
  PRO,
  secretHolders,
} from "./secret_holders.ts";
import { type Echo, type Found, type Handover, witness } from "./witness.ts";

const SUBSCRIBERS = `${PRO}/status-pages/:pageId/subscribers`;

const TAKE_DOWN = "/api/stacks/:name/down";
const ADOPT = "/api/stacks/:name/adopt";

const LINK_TOKENS = ["a subscriber's verify_token", "an unsubscribe token"];

const TOKENS = { accessToken: "an access token", refreshToken: "a refresh token" };

/** The only responses that contain a secret on purpose. */
const HANDED_OVER: readonly Handover[] = [
  { at: "POST /auth/login 200", fields: TOKENS, because: "a login is made for it" },
  { at: "POST /auth/token 200", fields: TOKENS, because: "a login by key is made for it" },
  { at: "POST /auth/refresh 200", fields: TOKENS, because: "a refresh is made for it" },
  {
    at: "POST /auth/session 200",
    fields: { accessToken: "an access token" },
    because: "a browser signs in with it",
  },
  {
    at: "POST /auth/session/refresh 200",
    fields: { accessToken: "an access token" },
    because: "a refresh is made for it",
  },
  {
    at: `POST ${ENTERPRISE}/sso/acs 200`,
    fields: { ...TOKENS, relayState: null },
    because: "single sign-on is made for it, and gives back what the login began with",
  },
  {
    at: "POST /api/stream/ticket 200",
    fields: { ticket: "a stream ticket" },
    because: "a browser cannot send a token to a stream",
  },
  ...["terminal", "attach"].map((kind) => ({
    at: `POST /api/containers/:id/${kind}/ticket 200`,
    fields: { ticket: "a terminal ticket" },
    because: "a browser cannot send a token with a WebSocket",
  })),
  ...["POST /api/tokens 201", "POST /api/tokens/:id/rotate 200"].map((at) => ({
    at,
    fields: { token: "an API token" },
    because: "a program authenticates with it; it is shown this once",
  })),
  {
    at: "POST /api/fleet/invites 201",
    fields: { token: null, command: null },
    because: "a host joins with it; it is shown this once",
  },
  {
    at: "POST /api/webhooks 201",
    fields: { secret: "a webhook's signing secret" },
    because: "the receiver checks signatures with it; it is shown this once",
  },
  {
    at: `POST ${SUBSCRIBERS} 201`,
    fields: { verify_token: "a subscriber's verify_token" },
    because: "the owner of the webhook confirms with it; it is shown only once",
  },
  {
    at: "GET /api/containers/:id 200",
    as: "admin",
    fields: { env: null },
    because: "admins see the values of a container's environment",
  },
  ...["source", "versions/:version"].map((part) => ({
    at: `GET /api/stacks/:name/${part} 200`,
    as: "admin" as const,
    fields: { env: null, files: null },
    because: `admins see the variables and files of a stack, which they edit (${part})`,
  })),
  {
    at: `POST ${ADOPT} 200`,
    as: "admin",
    fields: { sources: null },
    because: "admins see the variables and files that they send with a plan",
  },
  {
    at: "PUT /api/stacks/:name/source 409",
    as: "admin",
    fields: { diff: null },
    because: "the admin who edits a stack sees what was changed meanwhile, also in its variables",
  },
  {
    at: "POST /api/stacks/generate 200",
    as: "admin",
    fields: { compose: null },
    because: "a Compose file that deploys the same has the values of the environment",
  },
  {
    at: "GET /api/containers/:id/inspect 200",
    as: "admin",
    fields: { Config: null, HostConfig: null },
    because: "admins see the engine's own description, with the environment and driver options",
  },
  {
    at: "PUT /api/containers/:id/limits 200",
    as: "admin",
    fields: { env: null },
    because: "the response is the container with its new limits",
  },
  {
    at: "POST /api/containers/:id/rebuild 409",
    as: "admin",
    fields: { error: null },
    because: "the engine's own message, to a user who can read the values anyway",
  },
];

const IN_THE_PATH = ["a secret as a path parameter", "a secret behind the path"];
const IN_A_FIELD = ["a secret in the wrong field", "a password in a URL"];
const IN_THE_QUERY = ["a secret as a query value"];

/** Requests with a secret in a field that is not for secrets, and the responses that repeat it. */
const ECHOED: readonly Echo[] = [
  {
    where: /^admin: \w+ \S+ 404$/,
    secrets: [...IN_THE_PATH, ...IN_A_FIELD, ...IN_THE_QUERY, ...LINK_TOKENS],
    because: "who asks for what does not exist is told what that was",
  },
  {
    where: /^admin: \w+ \S+ 400$/,
    secrets: ["a secret as the name of a query value"],
    because: "the refusal of an unknown parameter names it",
  },
  {
    where: /^log: request$/,
    secrets: IN_THE_PATH,
    because: "operators see which paths are asked for; none has a secret but those of links",
  },
  {
    where: /: POST \/auth\/session(\/refresh)? 200, headers$/,
    secrets: ["a session cookie"],
    because: "the browser keeps it",
  },
  {
    where: /\/(audit|compliance\/logs|compliance\/logs\/:id|compliance\/export) 200$/,
    secrets: IN_THE_PATH,
    because: "the target of a change is named, even if it does not exist",
  },
  {
    where: /\/(audit|compliance\/logs|compliance\/logs\/:id|compliance\/export) 200$/,
    secrets: IN_A_FIELD,
    around: /\/roles\/:id\/users|custom_roles/,
    because: "the user of a role assignment is named, even if that user does not exist",
  },
  {
    where: /^admin: GET \/api\/containers\/:id\/logs\/search 200$/,
    secrets: IN_THE_QUERY,
    because: "a search answers what was searched for",
  },
  {
    where: /^admin: GET \S+\/sso\/login\/:id 200$/,
    secrets: IN_THE_QUERY,
    because: "the identity provider gets the RelayState",
  },
  {
    where: /^admin: (POST|PUT) \/api\/(schedules|maintenance\/windows)\S* 400$/,
    secrets: IN_A_FIELD,
    because: "a cron expression that is not valid and a container that does not exist are named",
  },
  {
    where: /^admin: (POST|PUT) \S+\/remediation\/rules\S* 400$/,
    secrets: IN_A_FIELD,
    because: "a container that does not exist is named",
  },
  {
    where: /^admin: POST \/status\/:slug\/subscribe 400$/,
    secrets: [...IN_A_FIELD, "a secret of the wrong type"],
    because: "the form shows what was entered",
  },
  {
    where: /^admin: POST \/api\/containers\/:id\/exec 403$/,
    secrets: IN_A_FIELD,
    because: "a program that may not be run is named",
  },
  {
    where: /^admin: GET \/api\/images\/:id\/export 200, headers$/,
    secrets: IN_THE_PATH,
    because: "the file has the name of the image, and the engine of this test has every image",
  },
  {
    where: /^admin: DELETE \/api\/volumes\/:name 200$/,
    secrets: IN_THE_PATH,
    because: "the engine of this test deletes a volume of any name, which is then named",
  },
  {
    where: /^the database$/,
    secrets: ["the hash of a password", "a push token"],
    because: "a hash is what is stored of a password; a push token is how a device is told apart",
  },
  {
    where: /^the database$/,
    secrets: [...IN_THE_PATH, ...IN_A_FIELD, "a secret of the wrong type, deeper"],
    because: "the logs are stored there, and what people write into free fields",
  },
];

/** Endpoints that cannot succeed in this test, and why. */
const NOT_DONE: Record<string, string> = {
  "DELETE /api/account/totp": "a fixed code is never right",
  "GET /metrics/federate": "METRICS_TOKEN is the only token that it accepts",
  "GET /api/fleet/targets": "the same",
  "GET /api/fleet/logs/stream": "no host is connected",
  "POST /api/fleet/run": "the same",
  "DELETE /api/fleet/blocked/:id": "no image is blocked",
  "POST /api/account/totp/confirm": "the same",
  "POST /auth/mfa": "the same",
  "POST /api/account/passkeys/options": "this service has no HTTPS",
  "POST /api/account/passkeys": "the same",
  "PUT /api/account/passkeys/:id": "no passkey was added",
  "DELETE /api/account/passkeys/:id": "no passkey was added",
  "DELETE /api/account/identities/:id": "no account was linked",
  "DELETE /api/users/:id/identities/:identityId": "the same",
  "POST /auth/passkey/options": "this service has no HTTPS",
  "POST /auth/passkey": "the same",
  "DELETE /api/stacks/:name": "the stack has containers",
  "POST /api/takeover": "the stack of the example has sources",
  "DELETE /api/takeover/:name": "no stack was taken over",
  [`POST ${TAKE_DOWN}`]: "it would remove the container that other requests need",
  "GET /api/containers/:id/attach": "a WebSocket needs a connection",
  "GET /api/containers/:id/terminal": "a WebSocket needs a connection",
  "GET /fleet/link": "a WebSocket needs a connection",
  "GET /fleet/hub": "the same",
  "POST /api/fleet/hosts": "no host waits",
  "GET /api/fleet/hosts/:id": "no host has joined",
  "PUT /api/fleet/hosts/:id": "the same",
  "DELETE /api/fleet/hosts/:id": "the same",
  "POST /api/fleet/hosts/:id/accept": "the same",
  "DELETE /api/fleet/membership": "the service is in no fleet",
  "DELETE /api/fleet/invites/:id": "the answer to POST has the invites in a list",
  "DELETE /api/fleet/hosts/:id/api/:path": "no host has joined",
  "GET /api/fleet/hosts/:id/api/:path": "the same",
  "POST /api/fleet/hosts/:id/api/:path": "the same",
  "PUT /api/fleet/hosts/:id/api/:path": "the same",
  "DELETE /api/fleet/pending/:id": "no host is away",
  "GET /api/boxes/:id": "the service is in no fleet",
  "POST /api/boxes": "the same",
  "DELETE /api/swarm/configs/:id": "the engine of this test manages no swarm",
  "DELETE /api/swarm/secrets/:id": "the same",
  "GET /api/swarm/configs": "the same",
  "GET /api/swarm/nodes": "the same",
  "GET /api/swarm/nodes/:id": "the same",
  "GET /api/swarm/nodes/:id/tasks": "the same",
  "GET /api/swarm/secrets": "the same",
  "GET /api/swarm/services": "the same",
  "GET /api/swarm/services/:id": "the same",
  "GET /api/swarm/services/:id/logs": "the same",
  "GET /api/swarm/services/:id/logs/stream": "the same",
  "GET /api/swarm/services/:id/tasks": "the same",
  "GET /api/swarm/tokens": "the same",
  "POST /api/swarm/configs": "the same",
  "POST /api/swarm/configs/:id/rotate": "the same",
  "POST /api/swarm/secrets": "the same",
  "POST /api/swarm/secrets/:id/rotate": "the same",
  "POST /api/swarm/services/:id/restart": "the same",
  "POST /api/swarm/services/:id/rollback": "the same",
  "POST /api/swarm/services/:id/scale": "the same",
  "POST /api/swarm/services/:id/update": "the same",
  "POST /api/swarm/tokens/rotate": "the same",
  "PUT /api/swarm/nodes/:id": "the same",
  "POST /api/containers/:id/rebuild": "the engine refuses the new container, with a secret",
  "POST /api/containers/:id/rollback": "no update succeeds in this test, because of the same",
  "POST /api/stacks/:name/rollback": "the same",
  "DELETE /api/updates/blocked/:id": "no container was replaced that could fail",
  "POST /api/notifications/deliveries/:id/replay": "no response names a delivery before the walk",
  "POST /api/webhooks/deliveries/:id/replay": "the same",
  "POST /api/backup": "the databases of this test are in memory",
  "POST /api/backup/own/:id/download": "no such snapshot succeeds, because of the same",
  "DELETE /api/backup/snapshots/:id":
    "no snapshot succeeds in this test: the engine refuses the helper container",
  "GET /api/backup/estimate": "it needs a stack or a volume in the query",
  "GET /api/backup/snapshots/:id": "as for DELETE",
  "GET /api/backup/snapshots/:id/diff/:other": "the same",
  "GET /api/backup/snapshots/:id/archive": "the same",
  "GET /api/backup/snapshots/:id/file": "the same",
  "GET /api/backup/snapshots/:id/files": "the same",
  "POST /api/backup/snapshots/:id/restore": "the same",
  "POST /api/backup/snapshots/:id/send": "the same",
  "POST /api/backup/snapshots/receive": "it needs the archive of a snapshot",
  "POST /api/backup/drills": "the same",
  "GET /api/backup/snapshots/:id/restore-plan": "the same",
  "GET /api/volumes/:name/files": "the engine refuses the helper container",
  "GET /api/volumes/:name/file": "the same",
  "PUT /api/volumes/:name/file": "the same",
  "DELETE /api/volumes/:name/file": "the same",
  "POST /api/volumes/:name/files/rename": "the same",
  "POST /api/volumes/:name/files/folder": "the same",
  "GET /api/stacks/:name/files": "the same",
  "GET /api/stacks/:name/file": "the same",
  "PUT /api/stacks/:name/file": "the same",
  "DELETE /api/stacks/:name/file": "the same",
  "POST /api/stacks/:name/files/rename": "the same",
  "POST /api/stacks/:name/files/folder": "the same",
  "GET /api/containers/:id/files": "the engine of this test runs no program",
  "GET /api/containers/:id/file": "the same",
  "PUT /api/containers/:id/file": "the same",
  "DELETE /api/containers/:id/file": "the same",
  "POST /api/containers/:id/files/rename": "the same",
  "POST /api/containers/:id/files/folder": "the same",
  "POST /api/settings/users-mode": "the service is in users mode",
  "POST /auth/setup": "the service is set up",
  "POST /api/updates/check": "no container uses the image of the example",
  "POST /api/containers/:id/exec": "the engine of this test runs no program",
  "POST /api/edition/trial": "there is a license that has more",
  "DELETE /api/identity/oidc/:id": "the issuer of the example does not exist",
  "GET /api/identity/oidc/:id": "the same",
  "GET /api/identity/oidc/:id/test": "the same",
  "GET /auth/oidc/:id/login": "the same",
  "GET /auth/oidc/callback": "the same",
  "GET /auth/oidc/:id/callback": "the same",
  "POST /api/identity/oidc/:id/test": "the same",
  "POST /auth/oidc/backchannel-logout": "the same",
  "PUT /api/identity/oidc/:id": "the same",
  "POST /api/git/repositories/:id/fetch": "no Git server answers",
  "POST /hooks/git/:token": "no forge has signed it",
  "PUT /api/stacks/:name/git": "no repository has a commit",
  "DELETE /api/stacks/:name/git": "the same",
  "POST /api/stacks/:name/git/discard": "the same",
};

ssoTest("no response and no log contains a secret", async () => {
  const secrets = plantedSecrets();
  const heard = witness(secrets, { handovers: HANDED_OVER, echoes: ECHOED });
  await using receiver = hostileReceiver();
  using directory = temporaryDirectory();
  const licenseKeysFile = writeLicenseKeys(directory.path);
  await using service = await plantedService({
    secrets,
    receiver,
    heard,
    directory: directory.path,
    licenseKeysFile,
  });
  const keys = await createKeys(secrets);
  const endpoints = await everyEndpoint(service.app.deps);

  const { dataDir } = service.app.deps.config;
  const holders = () => secretHolders({ secrets, receiver, ids: service.ids, keys, dataDir });
  const made = await makeRecords(service, holders());
  await makeEverythingFail(service, made);
  await logInAndOut(service, keys);
  await makeMistakes(service, keys);
  for (const walked of endpoints) await callEndpoint(service, walked, { holders, made });
  await makeEverythingFail(service, new Map());
  await readLogs(service);
  await logInByKey(service);
  await runCommands(service, directory.path);
  startWithWrongConfiguration(service);

  for (const line of service.lines) heard.hear(`log: ${JSON.parse(line).message}`, line);
  ok(receiver.asked > 50 && receiver.logins > 0, "messages went to who repeats them");
  ok(
    secrets.count > 1_000 && heard.count > 2_000,
    `${secrets.count} secrets, ${heard.count} texts`,
  );
  const leaks = heard.leaks();
  equal(leaks.length, 0, reportOf(leaks));

  const statusesOf = ({ method, pattern }: Walked) => [
    ...heard.statuses.get(`${method} ${pattern}`) ?? [],
  ];
  const named = ({ method, pattern }: Walked) => `${method} ${pattern}`;
  const failed = endpoints.filter((walked) => statusesOf(walked).includes(500));
  equal(failed.map(named).join("\n"), "");
  // An endpoint that never succeeded was not tested: its successful response may contain more.
  const undone = endpoints.filter((walked) => !statusesOf(walked).some((status) => status < 400));
  equal(undone.map(named).sort().join("\n"), Object.keys(NOT_DONE).sort().join("\n"));
  equal(heard.unused().join("\n"), "");
});

/** A line for each secret and place, with its first excerpt. */
function reportOf(leaks: readonly Found[]): string {
  const lines = new Map<string, string>();
  for (const { secret, form, where, excerpt } of leaks) {
    const line = `${where}: ${secret}, ${form}`;
    if (!lines.has(line)) lines.set(line, `${line}: ${excerpt}`);
  }
  return [...lines.values()].join("\n");
}

/** The created ids, by the path of the collection. */
type Made = Map<string, string[]>;

/** Creates every record that contains a secret, and the records that these need. */
async function makeRecords(service: PlantedService, holders: readonly Holder[]): Promise<Made> {
  const { app, secrets, ids, users } = service;
  const made: Made = new Map();
  for (const { at, body } of holders) {
    const { status, body: record } = await send(service, "admin", posted(at, body()));
    ok(status < 300, `${at}: ${status} ${JSON.stringify(record)}`);
    if (record.id === undefined) continue;
    made.set(at, [...made.get(at) ?? [], record.id]);
    ids.set(at, record.id);
    if (record.slug !== undefined) {
      ids.set("/status", record.slug).set(`${PRO}/status-pages/public`, record.slug);
    }
    if (record.verify_token !== undefined) {
      const token = await unsubscribeToken(app.deps.secrets, record.id);
      secrets.keep("an unsubscribe token", token.split(".")[1]!);
      // Deletes the first and keeps the last.
      const unsubscribed = `${PRO}/status-pages/unsubscribe`;
      if (!ids.has(unsubscribed)) ids.set(unsubscribed, token);
      ids.set(`${SUBSCRIBERS}/verify`, record.verify_token);
      await send(service, "anonymous", { method: "GET", path: `${SUBSCRIBERS}/verify/:token` });
    }
  }
  insertAlertEvent(app.deps.db, {
    id: "a1",
    ruleId: "r1",
    ruleName: "High CPU",
    metric: "cpu_percent",
    operator: ">",
    threshold: 90,
    value: 95,
    message: "CPU is at 95 % (limit: above 90 %)",
    severity: "warning",
    container: null,
    stack: null,
    firedAt: app.deps.now().toISOString(),
    resolvedAt: null,
    acknowledgedAt: null,
    acknowledgedBy: null,
    comment: null,
  });
  ids.set("/api/alerts/events", "a1");
  ids.set("/api/users", ids.get("/auth/users")!);
  await pull(service, "app");
  const role = `${ENTERPRISE}/roles`;
  ids.set(`${role}/users`, users.operator).set(`${role}/:id/users`, users.operator);
  ids.set(`${ENTERPRISE}/sso/login`, ids.get(`${ENTERPRISE}/sso/providers`)!);
  ids.set(
    `${ENTERPRISE}/encryption/rotations`,
    ids.get(`${ENTERPRISE}/encryption/rotate-key`)!,
  );
  const reads = { log_api_reads: true };
  await send(service, "admin", {
    ...posted(`${ENTERPRISE}/compliance/config`, reads),
    method: "PUT",
  });
  return made;
}

/** Endpoints that send a request to a receiver immediately. */
const ASKING: readonly [collection: string, path: string][] = [
  ["/api/integrations", "/api/integrations/:id/test"],
  ["/api/integrations", "/api/integrations/:id/poll"],
  ["/api/webhooks", "/api/webhooks/:id/test"],
  ["/api/notifications/channels", "/api/notifications/channels/:id/test"],
  [`${PRO}/uptime/monitors`, `${PRO}/uptime/monitors/:id/check`],
  [`${PRO}/chatops/channels`, `${PRO}/chatops/channels/:id/test`],
];

/** Emits an event of every kind, and attempts each delivery once. */
async function makeEverythingFail(service: PlantedService, made: Made): Promise<void> {
  const { app: { deps }, ids } = service;
  const stop = new AbortController();
  const forwarding = forwardEvents(deps, stop.signal);
  emit(deps, "container.down", { container: "web", id: "c1", reason: "exited", exitCode: 1 });
  emit(deps, "alert.fired", {
    rule: "High CPU",
    ruleId: "r1",
    alertId: "a1",
    metric: "cpu_percent",
    operator: ">",
    threshold: 90,
    value: 95,
    message: "CPU is at 95 % (limit: above 90 %)",
  });
  for (const [collection, path] of ASKING) {
    for (const id of made.get(collection) ?? []) {
      ids.set(collection, id);
      await send(service, "admin", { method: "POST", path });
    }
  }
  await deliverDue(deps, { signal: stop.signal });
  // Past events and current states.
  await send(service, "viewer", { method: "GET", path: "/api/stream?lastEventId=1" });
  stop.abort();
  await forwarding;
}

/** Every way to log in, with valid and with slightly wrong credentials. */
async function logInAndOut(service: PlantedService, { idp }: Keys): Promise<void> {
  const { app, secrets, passwords } = service;
  const { plant } = secrets;
  const anonymous = (attempt: Attempt) => send(service, "anonymous", attempt);
  const email = "operator@example.com";
  for (
    const login of [
      { email, password: plantedPassword(secrets, "a wrong password") },
      { email: plant("a password in place of the email"), password: "x" },
      {
        email: plant("a password behind the email", (secret) => `${email} ${secret}`),
        password: "x",
      },
      { email: [passwords.operator], password: { [passwords.operator]: 1 } },
    ]
  ) {
    await anonymous(posted("/auth/login", login));
  }
  const { body: { accessToken, refreshToken } } = await anonymous(
    posted("/auth/login", { email, password: passwords.operator }),
  );
  await anonymous(posted("/auth/refresh", { refreshToken }));
  // A second use looks like a stolen token.
  await anonymous(posted("/auth/refresh", { refreshToken }));
  await anonymous(posted("/auth/refresh", { refreshToken: accessToken }));
  const credentials = { email, password: passwords.operator };
  const secret = pageSecret();
  secrets.keep("a page's secret", secret);
  let cookie = "";
  for (
    const attempt of [
      posted("/auth/session", credentials),
      { method: "POST", path: "/auth/session/refresh" },
      { method: "DELETE", path: "/auth/session" },
      { method: "DELETE", path: "/auth/session" },
    ]
  ) {
    const headers = {
      "content-type": "application/json",
      "x-requested-with": "longshore",
      "x-page-secret": secret,
      cookie,
    };
    const given = (await anonymous({ ...attempt, headers })).cookie;
    cookie = given?.split(";")[0] ?? "";
    const value = cookie.split("=")[1] ?? "";
    if (value !== "") secrets.keep("a session cookie", value);
  }
  const broken = { authorization: `Bearer ${accessToken.slice(0, -2)}xx` };
  await anonymous({ method: "GET", path: "/auth/me", headers: broken });
  await anonymous({ method: "GET", path: `/api/stream?ticket=${accessToken}` });

  const own = `/auth/users/${service.users.operator}/password`;
  const changed = plantedPassword(secrets, "a changed password");
  for (const current_password of [changed, passwords.operator]) {
    const body = { password: changed, current_password };
    await send(service, "operator", { ...posted(own, body), method: "PUT" });
  }
  passwords.operator = changed;

  const says = (email: string) =>
    idp.answer({
      email,
      issuedAt: app.clock.now(),
      attributes: { badge: plant("an attribute of an assertion") },
    });
  const acs = `${ENTERPRISE}/sso/acs`;
  const message = await says("ada@example.com");
  secrets.keep("a SAML message", message.slice(-400, -100));
  const tampered = btoa(atob(message).replace("ada@", "eve@"));
  const foreign = btoa(atob(message).replaceAll(idp.entityId, "https://idp.example.net/"));
  for (const SAMLResponse of [message, message, tampered, foreign, message.slice(0, -500)]) {
    const RelayState = plant("a RelayState that is none", (secret) => `/?token=${secret}`);
    const { body } = await anonymous({
      ...posted(acs, new URLSearchParams({ SAMLResponse, RelayState }).toString()),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    if (body.sessionId === undefined) continue;
    service.ids.set(`${ENTERPRISE}/sso/sessions`, body.sessionId);
    const session = { authorization: `Bearer ${body.accessToken}` };
    await anonymous({ method: "GET", path: "/auth/me", headers: session });
    await send(service, "admin", { method: "DELETE", path: `${ENTERPRISE}/sso/sessions/:id` });
    await anonymous({ method: "GET", path: "/auth/me", headers: session });
  }
}

/** Secrets that users send by mistake. */
async function makeMistakes(service: PlantedService, keys: Keys): Promise<void> {
  const { app: { deps: { config } }, secrets: { plant } } = service;
  const { privateKey, ca, agent, idp } = keys;
  for (const certificate of [privateKey, ca + privateKey, privateKey + agent, privateKey.trim()]) {
    for (const method of ["POST", "PUT"]) {
      for (
        const [at, rest] of [
          [`${ENTERPRISE}/mtls/ca`, { name: "Root" }],
          [`${ENTERPRISE}/mtls/agents`, { hostname: "web-2" }],
          [`${ENTERPRISE}/sso/providers`, {
            name: "Other",
            entity_id: `${idp.entityId}/${method}`,
            sso_url: "https://idp.example.com/sso",
          }],
        ] as const
      ) {
        const path = method === "PUT" ? `${at}/:id` : at;
        await send(service, "admin", { ...posted(path, { ...rest, certificate }), method });
      }
    }
    const verify = `${ENTERPRISE}/mtls/verify`;
    const secret = { "x-verify-secret": config.mtlsVerifySecret! };
    for (const given of [certificate, agent]) {
      const body = posted(verify, { certificate: given });
      await send(service, "anonymous", { ...body, headers: { ...body.headers, ...secret } });
    }
    const headers = { ...secret, "x-client-cert": encodeURIComponent(certificate) };
    await send(service, "anonymous", { method: "GET", path: verify, headers });
    await send(service, "anonymous", {
      method: "GET",
      path: verify,
      headers: { "x-verify-secret": plant("a wrong X-Verify-Secret") },
    });
  }
  for (const token of [config.metricsToken!, `${config.metricsToken}x`]) {
    const headers = { authorization: `Bearer ${token}` };
    await send(service, "anonymous", { method: "GET", path: "/metrics", headers });
    await send(service, "anonymous", { method: "GET", path: "/api/health", headers });
  }
  for (
    const key of [
      await licenseKeyFor({ edition: "enterprise" }),
      await licenseKeyFor({ days: -99 }),
    ]
  ) {
    service.secrets.keep("a license key", key.split(".")[2]!);
    for (const given of [key, `${key}x`, `\n${key.slice(0, -3)}`]) {
      await send(service, "admin", posted("/api/edition/license", { key: given }));
      await send(service, "admin", { method: "GET", path: "/api/edition" });
      service.useEnterprise();
    }
  }
}

/** Required parameters of an endpoint. */
const QUERIES: Record<string, string> = {
  "GET /api/containers/:id/logs/search": "?q=listening",
  "GET /api/logs/stream": "?container=web",
  "DELETE /api/containers/:id": "?force=true",
  [`DELETE ${ENTERPRISE}/encryption/audit/retention`]: "?days=365",
};

/** Request bodies that do not create or change a record. */
function specialBody(service: PlantedService, { method, pattern }: Walked): unknown {
  const { secrets, users, passwords } = service;
  switch (`${method} ${pattern}`) {
    case "POST /auth/session":
      return { email: "operator@example.com", password: passwords.operator };
    case "PUT /api/account":
      return { name: "Ada" };
    case "PUT /api/account/password":
      return { currentPassword: passwords.viewer, newPassword: passwords.viewer };
    case `POST ${ADOPT}`:
      return {
        compose: "services: {web: {image: nginx, environment: [PASSWORD]}}",
        env: { PASSWORD: secrets.plant("a variable of an adopted stack") },
        files: { "app.env": secrets.plant("a file of an adopted stack") },
        // Its container would be recreated, so that it can be adopted again and again.
        acceptRecreate: false,
      };
    case "PUT /auth/users/:id/password":
      return { password: plantedPassword(secrets, "a password that an admin changed") };
    case "POST /auth/users/:id/email/confirm":
      return { email: selectUser(service.app.deps.db, service.ids.get("/auth/users")!)?.email };
    case `POST ${ENTERPRISE}/roles/:id/users`:
      return { user_id: users.operator };
    case `PUT ${ENTERPRISE}/ip-allowlist/config`:
      return { enforcement_enabled: false, log_denials: true };
    case `PUT ${ENTERPRISE}/compliance/config`:
      return { enabled: true, retention_days: 365, log_api_reads: true, export_format: "csv" };
    case "POST /api/containers/:id/update":
    case "POST /api/stacks/:name/deploy":
    case "POST /api/stacks/:name/update":
      // The engine refuses the containers that bringing data back and rehearsals need.
      return { data: "keep", rehearse: false };
    case "POST /api/backup/own":
      return { target: service.ids.get("/api/backup/targets") };
    case "POST /api/push/unregister":
      return { token: "ExponentPushToken[unknown]" };
  }
}

/** Calls an endpoint with each role, with a valid request and with secrets in wrong places. */
async function callEndpoint(
  service: PlantedService,
  walked: Walked,
  { holders, made }: { holders: () => Holder[]; made: Made },
): Promise<void> {
  const { secrets, ids } = service;
  const { method, pattern } = walked;
  const at = method === "PUT" ? pattern.replace(/\/:\w+$/, "") : pattern;
  const isHeld = method === "PUT" || method === "POST";
  const bodyOf = () =>
    (specialBody(service, walked) ??
      (isHeld ? holders().findLast((holder) => holder.at === at)?.body() : undefined)) as
        | Record<string, unknown>
        | undefined;
  if (method === "DELETE" && pattern.includes("/sessions")) await addSessions(service);
  if (pattern === "/api/jobs/:id/cancel") await pull(service, SLOW_IMAGE);
  if (pattern === ADOPT) ids.set("/api/stacks", FOREIGN_STACK);
  const as = (who: Who, attempt: Attempt) => send(service, who, attempt, pattern);
  const right = () => {
    const request = rightRequest(walked, bodyOf());
    return { ...request, path: request.path + (QUERIES[`${method} ${pattern}`] ?? "") };
  };

  await as("anonymous", right());
  await as("viewer", right());
  for (const wrong of wrongRequests(walked, bodyOf(), randomText)) {
    const { status } = await as("admin", wrong);
    if (status >= 400 || !wrong.mayBeText) secrets.keep(wrong.place, wrong.secret);
  }
  const collection = pattern.slice(0, pattern.lastIndexOf("/:"));
  for (const id of method === "GET" ? made.get(collection) ?? [] : []) {
    ids.set(collection, id);
    await as("admin", right());
  }
  if (pattern === TAKE_DOWN) return;
  await as("admin", right());
  // Two jobs on one target would exclude each other.
  if (pattern.startsWith("/api/backup/targets/:id/")) {
    await until(
      "the job on the target has ended",
      () =>
        selectUnfinishedJobs(service.app.deps.db).every(({ kind }) => !kind.startsWith("backup.")),
    );
  }
  if (pattern === "/api/stacks/:name/deploy") {
    await until(
      "the deploy has ended",
      () =>
        selectJobs(service.app.deps.db, { kind: ["stack.deploy"] }, { limit: 100 })
          .every(({ endedAt }) => endedAt !== null),
    );
  }
  if (pattern === ADOPT) ids.set("/api/stacks", "shop");
  if (pattern === "/auth/logout") tokens.delete(service);
  if (pattern === "/api/maintenance") await as("admin", posted(pattern, { enabled: false }));
  if (pattern.startsWith("/api/edition")) service.useEnterprise();
}

/** Logs in as admin and operator, for the endpoints that revoke a session. */
async function addSessions(service: PlantedService): Promise<void> {
  const { ids, users, passwords } = service;
  tokens.delete(service);
  for (const role of ["admin", "operator"] as const) {
    const login = { email: `${role}@example.com`, password: passwords[role] };
    await send(service, "anonymous", posted("/auth/login", login));
  }
  ids.set("/api/users", users.operator);
  for (const path of ["/api/account/sessions", "/api/users/:id/sessions"]) {
    const { sessions } = (await send(service, "admin", { method: "GET", path })).body;
    ids.set(path, sessions.find(({ current }: { current: boolean }) => !current).id);
  }
}

/** Starts a job, for the endpoints of jobs. */
async function pull(service: PlantedService, image: string): Promise<void> {
  const { status, body } = await send(service, "admin", posted("/api/images/pull", { image }));
  equal(status, 202, body.error);
  service.ids.set("/api/jobs", body.id);
}

/** Reads both logs completely: actions are recorded in the audit log and in the compliance log. */
async function readLogs(service: PlantedService): Promise<void> {
  for (
    const [path, key] of [["/api/audit", "entries"], [`${ENTERPRISE}/compliance/logs`, "logs"]]
  ) {
    let count = 0;
    for (let offset = 0, total = 1; offset < total; offset += 500) {
      const page = { method: "GET", path: `${path}?limit=500&offset=${offset}` };
      const { status, body } = await send(service, "admin", page);
      equal(status, 200, body.error);
      total = body.total;
      count += body[key!].length;
    }
    ok(count > 1_000, `${count} ${key}`);
  }
  for (const format of ["json", "csv"]) {
    const path = `${ENTERPRISE}/compliance/export?format=${format}`;
    equal((await send(service, "admin", { method: "GET", path })).status, 200);
  }
}

/** Logs in with the API key in key mode. */
async function logInByKey({ app, heard, secrets }: PlantedService): Promise<void> {
  using keyed = testApp({ config: { ...app.deps.config, authMode: "key" }, log: app.deps.log });
  const call = (apiKey: unknown) =>
    heard.call(keyed.app, { ...posted("/auth/token", { apiKey }), as: "anonymous" });
  const { apiKey } = app.deps.config;
  equal((await call(apiKey)).status, 200);
  for (
    const wrong of [`${apiKey}x`, [apiKey], apiKey!.repeat(1_000), secrets.plant("a wrong key")]
  ) {
    await call(wrong);
  }
  const { deps } = keyed;
  for (const path of ["/api/audit", "/api/health", "/api/overview", "/api/endpoints", "/metrics"]) {
    const asked = { method: "GET", path, as: "admin", headers: { authorization: "Made-Up admin" } };
    await heard.call(keyed.app, asked);
  }
  ok(deps.config.authMode === "key");
}

/** Collects the output of commands that run on a copy of the database. */
async function runCommands(service: PlantedService, directory: string): Promise<void> {
  const { app: { deps }, secrets, heard } = service;
  const path = `${directory}/state.sqlite`;
  deps.db.run("VACUUM INTO :path", { path });
  heard.hear("the database", new TextDecoder("latin1").decode(Deno.readFileSync(path)));
  Deno.writeTextFileSync(
    `${directory}/wrong`,
    secrets.plant("not a license", (secret) => `eyJhbGciOiJFZERTQSJ9.${secret}.${secret}`),
  );
  const LICENSE_KEY = await licenseKeyFor({ edition: "enterprise" });
  secrets.keep("LICENSE_KEY", LICENSE_KEY.split(".")[2]!);
  const env = {
    ...environmentOf(deps.config),
    DATA_DIR: directory,
    LICENSE_KEYS_FILE: deps.config.licenseKeysFile!,
    LICENSE_KEY,
  };
  const wrong = {
    ...env,
    LICENSE_KEY: secrets.plant("a wrong LICENSE_KEY", (secret) => `e.${secret}.e`),
  };
  await Promise.all(
    ([
      [["config"], env, 0],
      [["license", "show"], env, 0],
      [["license", "show"], wrong, 0],
      [["license", "install", `${directory}/wrong`], env, 1],
      [["user", "list"], env, 0],
      [["backup", `${directory}/backup.tar`], env, 0],
      [["compliance", "verify"], env, 0],
    ] as const).map(async ([args, env, expected]) => {
      const { code, stdout, stderr } = await runCommand(args, { env });
      const command = `longshore ${args.slice(0, 2).join(" ")}`;
      equal(code, expected, `${command}: ${stdout}${stderr}`);
      heard.hear(command, stdout);
      heard.hear(`${command}, standard error`, stderr);
    }),
  );
}

/** Collects the messages of unusable variables. */
function startWithWrongConfiguration({ app, secrets: { plant }, heard }: PlantedService): void {
  const surroundings = {
    hostname: "host",
    terminal: false,
    packed: false,
    readTextFile: () => {
      throw new Error("there is no such file");
    },
  };
  const right = environmentOf(app.deps.config);
  for (const name of Object.keys(right)) {
    const secret = plant(`a wrong ${name}`);
    const inUrl = [
      `http://ada:${secret}@`,
      `ftp://ada:${secret}@host`,
      `Shop|http://ada:${secret}@|x`,
    ];
    const isSecret = !["AUTH_MODE", "PUSH_URL", "ENDPOINTS"].includes(name);
    const odd = [secret, secret.repeat(500), `${secret}\n\0`, ` ${secret}`];
    for (const value of isSecret ? [...inUrl, ...odd] : inUrl) {
      try {
        readConfig({ ...right, [name]: value }, surroundings);
      } catch (error) {
        heard.hear(`start with a wrong ${name}`, String(error));
      }
    }
  }
}

type Who = UserRole | "anonymous";

/** Access tokens of each service by role. */
const tokens = new WeakMap<PlantedService, Map<UserRole, string>>();

async function tokenOf(service: PlantedService, role: UserRole): Promise<string> {
  const known = tokens.get(service) ?? new Map<UserRole, string>();
  tokens.set(service, known);
  const kept = known.get(role);
  if (kept !== undefined) return kept;
  const login = { email: `${role}@example.com`, password: service.passwords[role] };
  const { status, body } = await send(service, "anonymous", posted("/auth/login", login));
  equal(status, 200, body.error);
  known.set(role, body.accessToken);
  return body.accessToken;
}

/** Sends a request as a user, after replacing the ids in its path. */
async function send(
  service: PlantedService,
  as: Who,
  { method, path, headers = {}, body }: Attempt,
  pattern = path.split("?")[0]!,
) {
  const { app, heard, ids } = service;
  const own = as === "anonymous" ? {} : { authorization: `Bearer ${await tokenOf(service, as)}` };
  const [pathname = "", search] = path.split("?");
  return await heard.call(app.app, {
    method,
    path: filled(pathname, ids) + (search === undefined ? "" : `?${search}`),
    pattern,
    as,
    headers: { ...own, ...headers },
    body: method === "GET" ? undefined : body,
  });
}

const posted = (path: string, body: unknown) => ({
  method: "POST",
  path,
  headers: { "content-type": "application/json" },
  body: typeof body === "string" ? body : JSON.stringify(body),
});
