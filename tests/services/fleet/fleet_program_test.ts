/** Hub and member as real programs on loopback. @module */

import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { openStateDatabase } from "../../../db/database.ts";
import { upsertEndedMembership } from "../../../db/fleet_ended_membership.ts";
import { randomText } from "../../../services/builtins.ts";
import { decodeToken, encodeToken } from "../../../services/fleet/enrolment/token.ts";
import { selfSigned } from "../../helpers/certificates.ts";
import { type Outcome, runCommand } from "../../helpers/command.ts";
import { freePort } from "../../helpers/free_port.ts";
import { type Longshore, startLongshore } from "../../helpers/longshore.ts";
import { eventually, until } from "../../helpers/until.ts";

Deno.test("a host joins by one line, is accepted, and is back after the hub was killed", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "longshore-fleet-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const { cert, key } = await selfSigned({ name: "hub" });
  await Deno.writeTextFile(`${folder}/cert.pem`, cert);
  await Deno.writeTextFile(`${folder}/key.pem`, key);
  const port = freePort();
  const hubOptions = {
    dataDir: `${folder}/hub`,
    env: {
      PORT: String(port),
      SERVER_NAME: "hub",
      API_KEY: crypto.randomUUID(),
      SERVICE_BASE_URL: `https://127.0.0.1:${port}`,
      TLS_CERT_FILE: `${folder}/cert.pem`,
      TLS_KEY_FILE: `${folder}/key.pem`,
    },
  };
  const [hub, member] = await Promise.all([
    startLongshore(hubOptions),
    startLongshore({ env: { SERVER_NAME: "edge-7", FLEET_ALLOW: "admin" } }),
  ]);
  stack.use(member);
  stack.defer(() => hub.kill9());

  const line = await run(hub, ["fleet", "invite", "--label", "site=kiel"]);
  const token = /^longshore join (\S+)\n$/.exec(line.stdout)![1]!;
  const unknown = encodeToken({ ...decodeToken(token), inviteId: randomText(16) });
  match(
    (await run(member, ["join", unknown, "--yes"])).stderr,
    /^longshore: The hub does not take the token: The invite is unknown, used or expired$/m,
  );
  const joined = await run(member, ["join", token, "--yes"]);
  match(joined.stdout, /^This host has joined the fleet of hub as edge-7\.\n$/);
  match(joined.stderr, /Fingerprint of this host: (\S+)/);
  const again = await run(member, ["join", token, "--yes"]);
  equal(again.stdout, "This host is in the fleet of hub as edge-7 already.\n");

  await eventually(async () => equal(await stateOf(hub), "pending"));
  match((await run(hub, ["fleet", "accept", "edge-7"])).stdout, /was accepted/);
  await eventually(async () => equal(await stateOf(hub), "connected"));

  const listed = await run(member, ["fleet", "list"]);
  equal(listed.stderr, "This host is edge-7 in the fleet of hub.\n");

  const membership = async () =>
    (await member.call("GET", "/api/fleet/membership")).body.membership;
  const status = async () => (await run(member, ["fleet", "status"])).stdout;
  await until("the name and labels there are known", async () => {
    return (await membership()).labels.site === "kiel";
  });
  const { hubFingerprint, fingerprint } = await membership();
  match(
    await status(),
    new RegExp(`Link: +connected since [^]*Rights of the hub: +admin\\n[^]*${fingerprint}`),
  );
  notEqual(hubFingerprint, fingerprint);

  const labels = async () => (await member.call("GET", "/api/git/repositories")).body.labels;
  await eventually(async () => deepEqual(await labels(), { site: "kiel" }));

  await hub.kill9();
  match(
    (await run(member, ["join", token, "--yes"])).stderr,
    /the fleet of hub, which does not confirm it: .*; to join again, run `longshore fleet leave`, then this command again/,
  );
  await until("the lost link is shown", async () => (await membership()).state === "away");
  match(await status(), /Link: +away since .*\nReason: +\S/);
  const second = stack.use(await startLongshore(hubOptions));
  await eventually(async () => equal(await stateOf(second), "connected"));

  await run(member, ["fleet", "leave"]);
  await eventually(async () => equal(await stateOf(second), "left"));
  await until("the member is told", () => member.stderr().includes("the host has left"));

  const ended = { hub: "hub", name: "edge-7", reason: "The host was removed" };
  const db = openStateDatabase(`${member.dataDir}/state.sqlite`);
  upsertEndedMembership(db, { ...ended, endedAt: "2026-01-01T00:00:00.000Z" });
  db.close();
  equal(
    await status(),
    "This server is not a member of a fleet.\n" +
      "hub ended the membership of edge-7 at 2026-01-01T00:00:00.000Z: The host was removed.\n" +
      "To join again, use a new invite.\n",
  );
});

/** The state of edge-7, from the command line. */
async function stateOf(hub: Longshore): Promise<string> {
  const { stdout } = await run(hub, ["fleet", "list", "--json"]);
  return JSON.parse(stdout).hosts[0]?.state;
}

/** A command beside a program, as its operator runs it. */
function run({ dataDir, baseUrl }: Longshore, args: string[]): Promise<Outcome> {
  const env = { DATA_DIR: dataDir, SERVICE_BASE_URL: baseUrl, SERVER_NAME: "edge-7" };
  return runCommand(args, { env });
}
