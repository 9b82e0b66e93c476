/** A hub that dials a host, both as real programs on loopback. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { type Outcome, runCommand } from "../../helpers/command.ts";
import { freePort } from "../../helpers/free_port.ts";
import { stateOfHost } from "../../helpers/joined_host.ts";
import { long } from "../../helpers/long.ts";
import { type Longshore, startLongshore } from "../../helpers/longshore.ts";
import { eventually, until } from "../../helpers/until.ts";

const HUB = { SERVER_NAME: "hub", FLEET_INSECURE: "on", OUTBOUND_ALLOW: "127.0.0.1" };

long(Deno.test)(
  "a hub adds a host by one line, dials it again after each was killed, and both can end it",
  async () => {
    await using stack = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "longshore-fleet-" });
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    const options = (name: string, env: Record<string, string>) => ({
      dataDir: `${folder}/${name}`,
      env: { PORT: String(freePort()), API_KEY: crypto.randomUUID(), ...env },
    });
    const hubOptions = options("hub", HUB);
    const memberOptions = options("member", { SERVER_NAME: "edge-7", FLEET_ALLOW: "admin" });
    let [hub, member] = await Promise.all([
      startLongshore(hubOptions),
      startLongshore(memberOptions),
    ]);
    stack.defer(() => Promise.all([hub.stop(), member.stop()]).then(() => {}));
    const opening = () => listeningStatus(member);
    const hubAs = (env: Record<string, string>) => ({ ...hub, env: { ...HUB, ...env } });

    equal(await opening(), 404);
    const first = await listen(member);
    const token = await listen(member);
    equal(await opening(), 400);

    const add = (using = token, as = hubAs({})) =>
      run(as, ["fleet", "add", using, "-l", "site=kiel"]);
    match((await add(first)).stderr, /The host does not take the token/);
    match((await add(token, hubAs({ OUTBOUND_ALLOW: "" }))).stderr, /may not reach/);
    equal((await hub.call("GET", "/api/fleet/hosts")).body.hosts.length, 0);

    const added = await add();
    match(
      added.stdout,
      /^edge-7 was added\. This server dials http:\S+ from now on\.\n$/,
      added.stderr,
    );
    await until("the host is connected", async () => await stateOfHost(hub) === "connected");
    match((await add()).stderr, /is in the fleet of this server already/);
    const self = { ...member, env: HUB };
    match((await run(self, ["fleet", "add", token])).stderr, /is the token of this server itself/);
    const path = "/api/fleet/hosts/edge-7/api/git/repositories";
    await eventually(async () => equal((await hub.call("GET", path)).body.labels?.site, "kiel"));

    await hub.kill9();
    match(
      (await run(await otherHub(hub.dataDir), ["fleet", "add", token])).stderr,
      /not take the token/,
    );
    hub = await startLongshore(hubOptions);
    await until("the hub has dialed", async () => await stateOfHost(hub) === "connected");
    await member.kill9();
    await until("the hub notices", async () => await stateOfHost(hub) === "away");
    member = await startLongshore(memberOptions);
    await until("the hub has dialed again", async () => await stateOfHost(hub) === "connected");

    await run(member, ["fleet", "leave"]);
    await until("the host has left", async () => await stateOfHost(hub) === "left");
    await until("nothing is open", async () => await opening() === 404);

    const addByApi = (token: string) => hub.call("POST", "/api/fleet/hosts", { token });
    const waiting = await listen(member);
    const refused = await addByApi(first);
    deepEqual([refused.status, refused.body.error.slice(0, 32)], [
      ...[403, "The host does not take the token"],
    ]);
    equal((await addByApi("lsadd_damaged")).status, 400);
    const again = await addByApi(waiting);
    deepEqual([again.status, again.body.name], [201, "edge-7"], again.body.error);
    await until("the host is back", async () => await stateOfHost(hub) === "connected");
    const [{ id }] = (await hub.call("GET", "/api/fleet/hosts")).body.hosts;
    equal((await hub.call("DELETE", `/api/fleet/hosts/${id}`)).status, 200);
    await until("nothing is open", async () => await opening() === 404);
  },
);

/** A hub with other keys, which has got the token as well. */
async function otherHub(dataDir: string) {
  const other = `${dataDir}-other`;
  await Deno.mkdir(other);
  for await (const { name, isFile } of Deno.readDir(dataDir)) {
    if (isFile) await Deno.copyFile(`${dataDir}/${name}`, `${other}/${name}`);
  }
  using db = new DatabaseSync(`${other}/state.sqlite`);
  db.exec("DELETE FROM fleet_keys; DELETE FROM fleet_hosts");
  return { dataDir: other, env: HUB };
}

async function listeningStatus({ baseUrl }: Longshore): Promise<number> {
  const { status, body } = await fetch(`${baseUrl}/fleet/hub`);
  await body?.cancel();
  return status;
}

/** The token of a host that waits for its hub. */
async function listen(member: Longshore): Promise<string> {
  const { stdout, stderr } = await run(member, ["join", "--listen", "--address", member.baseUrl]);
  const [, token] = /^longshore fleet add (lsadd_\S+)\n$/.exec(stdout) ?? [];
  equal(typeof token, "string", stderr);
  return token!;
}

/** A command beside a program, as its operator runs it. */
function run(
  { dataDir, env = { SERVER_NAME: "edge-7", FLEET_INSECURE: "on" } }: Pick<Longshore, "dataDir"> & {
    env?: Record<string, string>;
  },
  args: string[],
): Promise<Outcome> {
  return runCommand(args, { env: { DATA_DIR: dataDir, ...env } });
}
