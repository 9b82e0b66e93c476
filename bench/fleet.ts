/**
 * A hub with 200 hosts and 10,000 containers: 10 real members and 190 recorded ones, each group in a
 * network namespace. The packets of half of them are dropped, one sends garbage, and one answers late.
 * Reports the times of the lists, the hub's memory and processor time, the bytes of hosts that idle, and
 * the time until all are back after the hub was killed.
 *
 * @module
 */

import { equal } from "node:assert/strict";
import { runCommand } from "../tests/helpers/command.ts";
import { simulateContainers } from "../tests/helpers/fake_containers.ts";
import { fakeEngine } from "../tests/helpers/fake_engine.ts";
import { type Longshore, startLongshore } from "../tests/helpers/longshore.ts";
import { processorSeconds, residentMib } from "../tests/helpers/process_figures.ts";
import { programCommand } from "../tests/helpers/program.ts";
import { openSandbox, runInside, type Sandbox } from "../tests/helpers/sandbox.ts";
import { until } from "../tests/helpers/until.ts";
import type { Behaviour, RecordedHosts } from "./fleet_hosts.ts";
import { load, type Target } from "./load.ts";
import { printTable, printVerdict } from "./table.ts";

/** Hosts by group. */
const REAL = 10;
const STEADY = 88;
const DARK = 100;
const HOSTS = REAL + STEADY + DARK + 2;

/** Containers of each host. */
const CONTAINERS = 50;

/** Time for which the hub idles and is measured. */
const IDLE_MS = 60_000;

const LISTS = ["overview", "containers?limit=100", "stacks", "alerts", "updates", "hosts"];
const CONNECTIONS = 4;
const LIST_SECONDS = 4;

/** Requests to hosts whose packets are dropped, which wait meanwhile. */
const PENDING = 20;

/** Bounds: milliseconds of a list, of the hub's return; MB of memory; MB of a host and hour. */
const BOUNDS = { p99: 150, backMs: 45_000, memoryMib: 80, hourMb: 1 };

const HOUR_MS = 3_600_000;
const LIMIT = { deadlineMs: 300_000 };

export async function benchFleet(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "longshore-fleet-bench-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const containers = Array.from({ length: CONTAINERS }, (_, at) => ({
    name: `app-${at}`,
    labels: { "com.docker.compose.project": `stack-${at % 10}` },
  }));
  const engine = stack.use(fakeEngine(simulateContainers(containers)));
  const feed = await recordFeed(engine.socketPath);

  const subnet = `10.${100 + Math.floor(Math.random() * 100)}`;
  const options = {
    dataDir: `${folder}/hub`,
    env: {
      ...{ HOST: "0.0.0.0", PORT: String(40_000 + Math.floor(Math.random() * 9_000)) },
      ...{ FLEET_INSECURE: "on", API_KEY: crypto.randomUUID() + crypto.randomUUID() },
    },
  };
  let hub = await startLongshore(options);
  stack.defer(() => hub.kill9());
  const { call } = hub;
  const target = {
    transport: "tcp",
    hostname: "127.0.0.1",
    port: Number(options.env.PORT),
  } as const;
  await call("GET", "/api/containers");
  const alone = await residentMib(hub.pid);

  const networks = await Promise.all(
    ["real", "steady", "dark"].map((name, at) => connect(stack, `fb${name}`, `${subnet}.${at}`)),
  );
  const [real, steady, dark] = networks as [Network, Network, Network];
  const { body: invite } = await call("POST", "/api/fleet/invites", {
    ...{ pattern: "*", count: HOSTS, acceptsAtOnce: true },
    address: `http://${subnet}.0.1:${target.port}`,
  });
  const { token } = invite;
  const joinedAt = performance.now();
  await Promise.all([
    joinMembers(stack, real, { token, folder, engineSocket: engine.socketPath }),
    record(stack, steady, { token, feed, behaviour: "steady", names: namesOf("steady", STEADY) }),
    record(stack, dark, { token, feed, behaviour: "steady", names: namesOf("dark", DARK) }),
    record(stack, undefined, { token, feed, behaviour: "garbage", names: ["garbage"] }),
    record(stack, undefined, { token, feed, behaviour: "late", names: ["late"] }),
  ]);
  await isComplete(hub, HOSTS - 1);
  const joinedMs = performance.now() - joinedAt;

  const idle = await measureIdle(hub, networks);
  const authorization = `Bearer ${await hub.token()}`;
  const connected = await measureLists(hub, target, { authorization });
  await dark.drop();
  const pending = new AbortController();
  stack.defer(() => pending.abort());
  waitForDark(hub, authorization, pending.signal);
  const late = await measureLists(hub, target, { authorization });
  const statesLate = await statesOf(hub);
  await until("the hosts are away", async () => (await statesOf(hub)).away >= DARK, LIMIT);
  const away = await measureLists(hub, target, { authorization });
  const memory = await residentMib(hub.pid);

  await hub.kill9();
  const killedAt = performance.now();
  hub = await startLongshore(options);
  await isConnected(hub, HOSTS - DARK - 1);
  const backMs = performance.now() - killedAt;
  const cpuBack = await processorSeconds(hub.pid);
  await dark.pass();
  const passedAt = performance.now();
  await isConnected(hub, HOSTS - 1);
  const darkMs = performance.now() - passedAt;

  printTable(
    `Hub with ${HOSTS} hosts and ${HOSTS * CONTAINERS} containers, ${CONNECTIONS} clients`,
    connected.lists.map(({ path, p50, p99 }, at) => ({
      list: path,
      "p50 ms": p50,
      "p99 ms": p99,
      "dropping p50": late.lists[at]!.p50,
      "dropping p99": late.lists[at]!.p99,
      "away p50": away.lists[at]!.p50,
      "away p99": away.lists[at]!.p99,
      KB: away.lists[at]!.answerBytes / 1024,
    })),
  );
  printTable("The hub", [
    { what: "load of the machine", value: Deno.loadavg()[0]! },
    { what: "RSS MB alone", value: alone },
    { what: "RSS MB with all hosts, idle", value: idle.memory },
    { what: "RSS MB after the lists", value: memory },
    { what: "CPU % idle", value: idle.cpuPercent },
    { what: "CPU % with lists, all connected", value: connected.cpuPercent },
    { what: "CPU % with lists, half dropping", value: late.cpuPercent },
    { what: "hosts late or connected meanwhile", value: statesLate.late + statesLate.connected },
    { what: "s until all have joined", value: joinedMs / 1000 },
    { what: "s until all reachable ones are back after a kill", value: backMs / 1000 },
    { what: "CPU s of the start and their return", value: cpuBack },
    { what: "s until the others are back after the network", value: darkMs / 1000 },
    ...idle.hourMb.map((value, at) => ({
      what: `MB of an idle host and hour, ${["real", "recorded", "recorded"][at]}`,
      value,
    })),
  ]);
  printVerdict(
    "overview p99 while half of the hosts drop packets",
    late.lists[0]!.p99,
    BOUNDS.p99,
    " ms",
  );
  printVerdict("overview p99 when they are away", away.lists[0]!.p99, BOUNDS.p99, " ms");
  printVerdict(
    "slowest list p99",
    Math.max(...late.lists.map(({ p99 }) => p99)),
    BOUNDS.p99,
    " ms",
  );
  printVerdict("memory of 200 hosts", idle.memory - alone, BOUNDS.memoryMib, " MB");
  printVerdict("processor time of an idle hub", idle.cpuPercent, 100, " %");
  printVerdict("return after a kill", backMs, BOUNDS.backMs, " ms");
  printVerdict("bytes of an idle host and hour", Math.max(...idle.hourMb), BOUNDS.hourMb, " MB");
}

const namesOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${name}-${at}`);

/** The first frames of a real host, and the one that follows while nothing changes. */
async function recordFeed(engineSocket: string): Promise<RecordedHosts["feed"]> {
  await using member = await startLongshore({ engineSocket });
  await until(
    "the containers are known",
    async () =>
      (await member.call("GET", "/api/containers")).body.containers?.length === CONTAINERS,
  );
  const headers = { authorization: `Bearer ${await member.token()}` };
  const { body } = await fetch(`${member.baseUrl}/api/feed`, { headers });
  let first = "";
  for await (const text of body!.pipeThrough(new TextDecoderStream())) {
    first += text;
    if (/event: current\n.*\n\n/.test(first)) break;
  }
  return { first, current: /event: current\n.*\n\n/.exec(first)![0] };
}

/** A namespace whose hosts reach the hub by a network of their own. */
interface Network {
  sandbox: Sandbox;
  /** Of the hub's end. */
  device: string;
  /** Drops all packets silently, and passes them again. */
  drop(): Promise<void>;
  pass(): Promise<void>;
}

async function connect(
  stack: AsyncDisposableStack,
  device: string,
  network: string,
): Promise<Network> {
  const sandbox = stack.use(await openSandbox());
  await run(
    "ip",
    "link",
    "add",
    device,
    "type",
    "veth",
    "peer",
    "name",
    "up0",
    "netns",
    String(sandbox.pid),
  );
  await run("ip", "address", "add", `${network}.1/24`, "dev", device);
  await run("ip", "link", "set", device, "up");
  await runInside(sandbox, ["ip", "address", "add", `${network}.2/24`, "dev", "up0"]);
  await runInside(sandbox, ["ip", "link", "set", "up0", "up"]);
  await runInside(sandbox, ["ip", "route", "add", "default", "via", `${network}.1`]);
  const filter = async (change: string) => {
    for (const chain of ["INPUT", "OUTPUT"]) {
      await runInside(sandbox, [
        "iptables",
        change,
        chain,
        "!",
        ...inout(chain),
        "lo",
        "-j",
        "DROP",
      ]);
    }
  };
  return { sandbox, device, drop: () => filter("-A"), pass: () => filter("-D") };
}

const inout = (chain: string) => [chain === "INPUT" ? "-i" : "-o"];

async function run(program: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args }).output();
  if (!success) throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
}

/** The command that runs another one in the network of a namespace. */
const within = ({ sandbox }: Network, [program, ...args]: readonly string[]) => ({
  program: "nsenter",
  args: [`--net=/proc/${sandbox.pid}/ns/net`, program!, ...args],
});

async function joinMembers(
  stack: AsyncDisposableStack,
  network: Network,
  { token, folder, engineSocket }: { token: string; folder: string; engineSocket: string },
): Promise<void> {
  for (const name of namesOf("real", REAL)) {
    const dataDir = `${folder}/${name}`;
    const env = { FLEET_INSECURE: "on", SERVER_NAME: name, API_KEY: crypto.randomUUID() };
    {
      // A command tells the running service through the network that both share.
      await using joining = await startLongshore({ dataDir, engineSocket, env });
      await until(`${name} has joined`, async () => {
        const { code } = await runCommand(["join", token, "--yes"], {
          env: { ...env, DATA_DIR: joining.dataDir },
        });
        return code === 0;
      }, LIMIT);
    }
    stack.use(
      await startLongshore({
        ...{ dataDir, engineSocket, env },
        ...within(network, programCommand(["serve"])),
      }),
    );
  }
}

/** Starts a process with recorded hosts, and waits until they have joined. */
async function record(
  stack: AsyncDisposableStack,
  network: Network | undefined,
  hosts: RecordedHosts & { behaviour: Behaviour },
): Promise<void> {
  const script = new URL("fleet_hosts.ts", import.meta.url).pathname;
  const flags = ["run", "--frozen", "-A", "--unstable-no-legacy-abort"];
  const command = [Deno.execPath(), ...flags, script, JSON.stringify(hosts)];
  const { program, args } = network
    ? within(network, command)
    : { program: command[0]!, args: command.slice(1) };
  const child = new Deno.Command(program, { args, stdout: "piped" }).spawn();
  stack.defer(async () => {
    child.kill("SIGKILL");
    await child.status;
  });
  const reader = child.stdout.getReader();
  equal(new TextDecoder().decode((await reader.read()).value), "joined\n");
  stack.defer(() => reader.cancel());
}

async function statesOf({ call }: Longshore) {
  const { body } = await call("GET", "/api/fleet/hosts");
  const states = { connected: 0, late: 0, away: 0, never: 0 };
  for (const { state } of body.hosts) states[state as keyof typeof states]++;
  return states;
}

const isConnected = (hub: Longshore, hosts: number) =>
  until("the hosts are connected", async () => (await statesOf(hub)).connected >= hosts, LIMIT);

/** Whether the hub has the lists of so many hosts. */
async function isComplete(hub: Longshore, hosts: number): Promise<void> {
  await isConnected(hub, hosts);
  await until("the lists are complete", async () => {
    const { body } = await hub.call("GET", "/api/fleet/overview");
    return body.sums.containers?.total >= hosts * CONTAINERS;
  }, LIMIT);
}

async function measureIdle({ pid }: Longshore, networks: Network[]) {
  const bytesOf = async ({ device }: Network) => {
    const figure = async (name: string) =>
      Number(await Deno.readTextFile(`/sys/class/net/${device}/statistics/${name}`));
    return await figure("rx_bytes") + await figure("tx_bytes");
  };
  const [at, cpu] = [performance.now(), await processorSeconds(pid)];
  const before = await Promise.all(networks.map(bytesOf));
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const ms = performance.now() - at;
  const after = await Promise.all(networks.map(bytesOf));
  return {
    memory: await residentMib(pid),
    cpuPercent: (await processorSeconds(pid) - cpu) / ms * 100_000,
    hourMb: [REAL, STEADY, DARK].map((hosts, index) =>
      (after[index]! - before[index]!) / hosts / ms * HOUR_MS / 1e6
    ),
  };
}

async function measureLists(
  { pid }: Longshore,
  target: Target,
  headers: Record<string, string>,
) {
  const [at, cpu] = [performance.now(), await processorSeconds(pid)];
  const lists = [];
  for (const path of LISTS) {
    const request = { path: `/api/fleet/${path}`, headers, connections: CONNECTIONS };
    lists.push({ path, ...await load(target, { ...request, seconds: LIST_SECONDS }) });
  }
  equal(lists.reduce((sum, { failures }) => sum + failures, 0), 0);
  const ms = performance.now() - at;
  return { lists, cpuPercent: (await processorSeconds(pid) - cpu) / ms * 100_000 };
}

/** Requests to hosts that do not answer. */
function waitForDark({ baseUrl }: Longshore, authorization: string, signal: AbortSignal): void {
  for (const name of namesOf("dark", PENDING)) {
    const url = `${baseUrl}/api/fleet/hosts/${name}/api/containers`;
    fetch(url, { headers: { authorization }, signal }).then((answer) => answer.text()).catch(
      () => {},
    );
  }
}
