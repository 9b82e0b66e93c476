import { equal, ok } from "node:assert/strict";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { programCommand, runtimeEnvironment } from "../helpers/program.ts";
import {
  openSandbox,
  runInside,
  type Sandbox,
  sandboxObstacle,
  startDaemon,
} from "../helpers/sandbox.ts";
import { digestOf } from "../helpers/updates.ts";
import { until } from "../helpers/until.ts";

const API_KEY = "key-of-the-silence-test";

/** An interface to a network without hosts: the kernel counts what a program tries to send. */
const NETWORK = `
  ip link add out0 type veth peer name peer0
  for link in out0 peer0; do
    # The kernel itself would announce addresses of IPv6.
    echo 1 > /proc/sys/net/ipv6/conf/$link/disable_ipv6
    ip link set $link up
  done
  ip address add 192.0.2.2/24 dev out0
  ip route add default dev out0
  echo nameserver 192.0.2.53 > /etc/resolv.conf`;

Deno.test({
  name: "a default installation sends no packet outside of the loopback interface",
  ignore: sandboxObstacle() !== undefined,
  async fn() {
    await using fake = fakeEngine({
      ...simulateContainers([
        { name: "web", image: "registry.test/app:1", imageId: digestOf("a") },
        { name: "hub", image: "nginx", imageId: digestOf("b") },
      ]),
      "GET /events": () => new Response(new ReadableStream()),
      "GET /images/json": () =>
        Response.json([
          image("a", `registry.test/app@${digestOf("1")}`),
          image("b", `nginx@${digestOf("1")}`),
        ]),
    });
    await using sandbox = await openSandbox();
    await runInside(sandbox, ["sh", "-euc", NETWORK]);
    const { call, ...service } = await startInside(sandbox, fake.socketPath);
    await using _service = service;

    await until("the containers are followed, and checks had their turn", async () => {
      const { workers } = await call("/api/health");
      const hasWorked = (name: string) =>
        // deno-lint-ignore no-explicit-any
        workers.some((worker: any) => worker.name === name && worker.lastRoundAt !== null);
      const { updates } = await call("/api/updates");
      return updates.length === 2 && hasWorked("update checker") &&
        hasWorked("automatic updater") && hasWorked("container watcher");
    });
    await call("/api/overview");
    equal(await sentPackets(sandbox), 0);

    // The same service, asked to do so.
    await call("/api/updates/check", "{}");
    await until("packets are sent", async () => await sentPackets(sandbox) > 0);
  },
});

const image = (digit: string, digest: string) => ({
  Id: digestOf(digit),
  RepoTags: [],
  RepoDigests: [digest],
  Created: 0,
  Size: 1,
  Labels: null,
});

async function startInside(sandbox: Sandbox, socketPath: string) {
  const env = {
    ...runtimeEnvironment(),
    // The runtime looks for its own updates when it runs sources; the executable sets this, too.
    DENO_NO_UPDATE_CHECK: "1",
    HOST: "127.0.0.1",
    PORT: "3000",
    API_KEY,
    DATA_DIR: `${sandbox.directory}/longshore`,
    DOCKER_HOST: `unix://${socketPath}`,
  };
  let token: string | undefined;
  // deno-lint-ignore no-explicit-any
  const request = async (path: string, body?: string): Promise<any> => {
    const headers = ["Content-Type: application/json", `Authorization: Bearer ${token}`];
    const given = body === undefined ? [] : ["--data", body];
    const text = await runInside(sandbox, [
      "curl",
      "--silent",
      "--fail-with-body",
      ...headers.flatMap((header) => ["--header", header]),
      ...given,
      `http://127.0.0.1:3000${path}`,
    ]);
    return text === "" ? undefined : JSON.parse(text);
  };
  const daemon = await startDaemon(
    sandbox,
    "longshore-service",
    [
      "env",
      "--ignore-environment",
      ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
      ...programCommand(["serve"]),
    ],
    async () => {
      const { accessToken } = await request("/auth/token", JSON.stringify({ apiKey: API_KEY }));
      token = accessToken;
      return true;
    },
  );
  ok(token);
  return { ...daemon, call: request };
}

async function sentPackets(sandbox: Sandbox): Promise<number> {
  const text = await runInside(sandbox, ["grep", "out0:", "/proc/net/dev"]);
  // After the name: eight numbers of received data, then bytes and packets that were sent.
  return Number(text.trim().split(/\s+/)[10]);
}
