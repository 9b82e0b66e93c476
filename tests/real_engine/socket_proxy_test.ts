import { deepEqual, equal, match, ok } from "node:assert/strict";
import { connectEngine } from "../../engine/client.ts";
import { systemPing } from "../../engine/system.ts";
import { type EngineIdentity, tcpEndpoint } from "../../services/outbound/engine_endpoint.ts";
import { createAuthority, type Identity } from "../helpers/certificates.ts";
import { type LiveApp, liveApp } from "../helpers/live_app.ts";
import { openLogStream } from "../helpers/log_client.ts";
import { long } from "../helpers/long.ts";
import {
  dockerdObstacle,
  engineTest,
  isEngineRequired,
  type RealEngine,
  startDockerd,
  type TestContainer,
} from "../helpers/real_engine.ts";
import { startDaemon } from "../helpers/sandbox.ts";
import { startSocketProxy } from "../helpers/socket_proxy.ts";
import { startTcpRelay } from "../helpers/tcp_relay.ts";
import { serveTerminals } from "../helpers/terminal_client.ts";
import { testConfig } from "../helpers/test_app.ts";
import { apiStack, sleeper } from "../helpers/test_stack.ts";
import { until } from "../helpers/until.ts";

/** Calls of a user that need a feature. */
type Use = (app: LiveApp, container: TestContainer, engine: RealEngine) => Promise<void>;

/** The uses of features, each through a proxy that opens its calls only. */
const USES: Record<string, Use> = {
  async Logs(app, { name }) {
    const client = await openLogStream(app, `/api/containers/${name}/logs/stream?tail=1`);
    deepEqual((await client.lines(1)).map(({ message }) => message), ["ready"]);
    await client.cancel();
  },

  async "Commands and terminals"(app, { name }) {
    const run = await app.call("POST", `/api/containers/${name}/exec`, { command: "id" });
    deepEqual([run.status, run.body.exitCode], [200, 0]);
    await using server = serveTerminals(app);
    const terminal = await server.open(`/api/containers/${name}/terminal`);
    terminal.type("echo $((6 * 7)); exit 7\n");
    deepEqual(await terminal.end(), { message: { exit: 7 }, code: 1000 });
    ok(terminal.output.includes("42"));
  },

  async "Actions on containers"(app, { name }) {
    for (const action of ["restart", "pause", "unpause", "stop", "start"]) {
      equal((await app.call("POST", `/api/containers/${name}/${action}`, {})).status, 200, action);
    }
  },

  async "Networks, volumes and disk usage"(app) {
    const name = `t${crypto.randomUUID().slice(0, 8)}`;
    for (const kind of ["networks", "volumes"]) {
      equal((await app.call("POST", `/api/${kind}`, { name })).status, 201);
      equal((await app.call("DELETE", `/api/${kind}/${name}`)).status, 200);
    }
    equal((await app.call("GET", "/api/system/disk")).status, 200);
  },

  async Updates(app, { id, name }, engine) {
    const image = `${name}:1`;
    const change = (version: number) =>
      engine.docker("commit", `--change=LABEL version=${version}`, id, image);
    await change(1);
    await engine.docker("run", "--detach", `--name=${name}-app`, image);
    try {
      await change(2);
      const job = await app.call("POST", `/api/containers/${name}-app/update`, {
        pull: "never",
        stableSeconds: 1,
      });
      equal((await endOf(app, job.body.id)).result.verdict, "success");
    } finally {
      await engine.docker("rm", "--force", `${name}-app`);
      const tags = `longshore-previous/${name}-app`;
      const previous = await engine.docker("images", "--quiet", tags);
      await engine.docker("rmi", "--force", image, ...previous.split("\n").filter(Boolean));
    }
  },

  async "Stacks from Compose files"(app) {
    await using stack = apiStack(app);
    await stack.store({
      services: { web: { ...sleeper, configs: ["page"], volumes: ["data:/data"] } },
      configs: { page: { content: "hello" } },
      volumes: { data: {} },
    });
    const deployed = await stack.deploy();
    equal(deployed.status, "succeeded", deployed.error ?? "");
    equal((await stack.down()).status, "succeeded");
  },
};

// deno-lint-ignore no-explicit-any
async function endOf(app: LiveApp, id: string): Promise<any> {
  return await until("the job has ended", async () => {
    const { body } = await app.call("GET", `/api/jobs/${id}`);
    return body.endedAt !== null && body;
  });
}

/** The application on an engine at a port of this host. */
async function appOn(port: number, identity?: EngineIdentity): Promise<LiveApp> {
  const app = await liveApp(endpointAt(port, identity), { config: { terminal: "admin" } });
  // Verification takes time.
  app.deps.now = () => new Date();
  return app;
}

const endpointAt = (port: number, identity?: EngineIdentity) =>
  tcpEndpoint({ host: "127.0.0.1", port }, { config: testConfig(), identity });

long(engineTest)(
  "a proxy with the calls of a feature in the document suffices for it",
  async (engine) => {
    // At the same time, because each spends most of it waiting.
    await Promise.all(
      Object.entries(USES).map(async ([feature, use]) => {
        await using container = await engine.runContainer();
        await using proxy = await startSocketProxy(engine.socketPath, [feature]);
        await using app = await appOn(proxy.port);
        await use(app, container, engine);
        deepEqual(await proxy.refused(), [], feature);
      }),
    );
  },
);

engineTest(
  "with the smallest set containers are watched, and actions name the option",
  async (engine) => {
    await using container = await engine.runContainer();
    await using proxy = await startSocketProxy(engine.socketPath, ["Required"]);
    await using app = await appOn(proxy.port);
    await engine.docker("pause", container.name);
    await until(
      "the event arrives",
      () => app.deps.inventory.get(container.id)?.state === "paused",
    );
    await engine.docker("unpause", container.name);
    const { status, body } = await app.call(
      "POST",
      `/api/containers/${container.name}/restart`,
      {},
    );
    deepEqual([status, body.error], [
      502,
      "The socket proxy refuses to restart containers: allow POST /containers/{id}/restart " +
      "(options CONTAINERS and POST)",
    ]);
  },
);

/** Uses with streams, hijacked connections and jobs. */
const TLS_USES = ["Logs", "Commands and terminals", "Updates", "Stacks from Compose files"];

/** Port on which the engine expects TLS, in its sandbox. */
const TLS_PORT = 2376;

long(Deno.test)({
  name: "everything works over TLS with a client certificate, and other certificates are explained",
  ignore: dockerdObstacle() !== undefined && !isEngineRequired(),
  async fn() {
    const [authority, other] = await Promise.all(["a", "b"].map(createAuthority));
    const [server, client, foreign] = await Promise.all([
      authority!.issue({ name: "engine", altNames: "IP:127.0.0.1" }),
      authority!.issue({ name: "longshore", extendedKeyUsage: "clientAuth" }),
      other!.issue({ name: "longshore", extendedKeyUsage: "clientAuth" }),
    ]);
    await using engine = await startTlsEngine(authority!, server!);
    await using out = startTcpRelay(engine.tlsSocket);
    const identity = { ca: authority!.cert, ...client! };
    await using app = await appOn(out.port, identity);
    await Promise.all(
      TLS_USES.map(async (feature) => {
        await using container = await engine.runContainer();
        await USES[feature]!(app, container, engine);
      }),
    );

    await using plain = startTcpRelay(engine.socketPath);
    const failure = async (port: number, given?: EngineIdentity) => {
      using failing = connectEngine(endpointAt(port, given));
      return await systemPing(failing).then(() => "none", (error) => error.message);
    };
    match(
      await failure(out.port, { ca: authority!.cert, ...foreign! }),
      /refuses the client certificate \(\w+\): cert\.pem and key\.pem in DOCKER_CERT_PATH must/,
    );
    match(
      await failure(out.port, { ca: other!.cert, ...client! }),
      /^DOCKER_HOST: tcp:\S+: the certificate is not trusted; the port must expect TLS/,
    );
    match(await failure(out.port), /requires TLS: set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH$/);
    match(
      await failure(plain.port, identity),
      /^DOCKER_HOST: tcp:\S+: TLS could not be established; the port must expect TLS/,
    );
  },
});

/** A Docker engine that accepts TLS only, and a socket that leads to its port. */
async function startTlsEngine(authority: Identity, server: Identity) {
  await using stack = new AsyncDisposableStack();
  const directory = await Deno.makeTempDir({ dir: "/tmp", prefix: "longshore-test-tls-" });
  stack.defer(() => Deno.remove(directory, { recursive: true }));
  await Deno.writeTextFile(`${directory}/ca.pem`, authority.cert);
  await Deno.writeTextFile(`${directory}/cert.pem`, server.cert);
  await Deno.writeTextFile(`${directory}/key.pem`, server.key);
  const engine = stack.use(
    await startDockerd({
      args: [
        `--host=tcp://127.0.0.1:${TLS_PORT}`,
        "--tlsverify",
        `--tlscacert=${directory}/ca.pem`,
        `--tlscert=${directory}/cert.pem`,
        `--tlskey=${directory}/key.pem`,
      ],
    }),
  );
  const tlsSocket = `${directory}/tls.sock`;
  const script = new URL("../helpers/tcp_relay.ts", import.meta.url).pathname;
  const command = [Deno.execPath(), "run", "--no-config", "-A", script, tlsSocket, `${TLS_PORT}`];
  stack.use(
    await startDaemon(engine.sandbox, "relay", command, async () => {
      return await Deno.stat(tlsSocket).then(() => true, () => false);
    }),
  );
  const all = stack.move();
  return { ...engine, tlsSocket, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
