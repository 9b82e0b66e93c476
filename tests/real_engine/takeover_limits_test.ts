import { deepEqual, equal, match, ok } from "node:assert/strict";
import { join } from "node:path";
import { connectEngine } from "../../engine/client.ts";
import { type EngineCall, startEngineProxy } from "../helpers/engine_proxy.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { takeoverHost } from "../helpers/takeover_host.ts";

const text = `services: {web: {image: ${BUSYBOX}, command: sleep 1000}}\n`;

/** A container with the labels of a stack whose files are at a path. */
const labelled = (project: string, path: string, directory = path.replace(/\/[^/]*$/, "")) => ({
  "com.docker.compose.project": project,
  "com.docker.compose.service": "web",
  "com.docker.compose.container-number": "1",
  "com.docker.compose.oneoff": "False",
  "com.docker.compose.config-hash": "x",
  "com.docker.compose.project.working_dir": directory,
  "com.docker.compose.project.config_files": path,
});

const PODMAN_CASES = ["away", "linked", "fifo", "etc", "missing"];

interface FoundStack {
  name: string;
  source: { kind: string };
  candidates: { kind: string; path: string; error?: string }[];
}

const limits = async (engine: RealEngine) => {
  await using host = await takeoverHost(engine);
  const { root, stacks, name, app } = host;
  const volume = name("files");
  await using stack = new AsyncDisposableStack();
  await engine.docker("volume", "create", volume);
  stack.defer(async () => void await engine.docker("volume", "rm", volume));

  await host.write({
    [join(stacks, "large/compose.yaml")]: text + "#".repeat(1024 * 1024),
    [join(stacks, "bytes/compose.yaml")]: "",
    [join(stacks, "away/.env")]: "",
    [join(root, "secret/compose.yaml")]: text + "# secret-of-the-host\n",
    [join(root, "volume/x/real/compose.yaml")]: text,
  });
  await Deno.writeFile(join(stacks, "bytes/compose.yaml"), new Uint8Array([0xff, 0xfe, 0x00]));
  await Deno.symlink(join(root, "secret/compose.yaml"), join(stacks, "away/compose.yaml"));
  await Deno.symlink("../secret", join(stacks, "linked"));
  await Deno.symlink("/etc", join(root, "volume/x/etc"));
  await Deno.symlink("../../../../etc/passwd", join(root, "volume/x/real/passwd"));
  for (const [path, type] of [["fifo", "p"], ["device", "c"]] as const) {
    await Deno.mkdir(join(stacks, path));
    const numbers = type === "c" ? ["1", "3"] : [];
    const made = await new Deno.Command("mknod", {
      args: [join(stacks, path, "compose.yaml"), type, ...numbers],
    }).output();
    ok(made.success);
  }
  await Deno.mkdir(join(stacks, "folder/compose.yaml"), { recursive: true });

  const manager = await host.manager({
    name: name("manager"),
    source: volume,
    at: "/files",
    from: join(root, "volume"),
  });
  stack.use(manager);
  // The whole host is not where a program keeps its stacks.
  stack.use(
    await engine.runContainer({ name: name("wholehost"), options: ["--volume=/:/host:ro"] }),
  );
  const refused: Record<string, [path: string, error: RegExp]> = {
    large: [join(stacks, "large/compose.yaml"), /is larger than 1 MiB/],
    bytes: [join(stacks, "bytes/compose.yaml"), /is not text in UTF-8/],
    away: [join(stacks, "away/compose.yaml"), /is a symbolic link to|^$/],
    linked: [join(stacks, "linked/compose.yaml"), /is a symbolic link to|^$/],
    fifo: [join(stacks, "fifo/compose.yaml"), /is not a regular file/],
    device: [join(stacks, "device/compose.yaml"), /is not a regular file/],
    folder: [join(stacks, "folder/compose.yaml"), /is a directory/],
    etc: ["/files/x/etc/passwd", /is a symbolic link to \/etc|^$/],
    passwd: ["/files/x/real/passwd", /is a symbolic link to|^$/],
  };
  const unread: Record<string, string> = {
    outside: join(root, "secret/compose.yaml"),
    host: `/host${join(root, "secret/compose.yaml")}`,
    up: `/files/x/../../../${join(root, "secret/compose.yaml")}`,
    control: "/files/x/real/compose\u0007.yaml",
    missing: "/files/x/real/none.yaml",
    root: "/compose.yaml",
  };
  for (const [key, path] of Object.entries(unread)) refused[key] = [path, /^$/];
  // Each container takes Podman some seconds.
  if (engine.kind === "podman") {
    for (const key of Object.keys(refused)) if (!PODMAN_CASES.includes(key)) delete refused[key];
  }
  for (const [key, [path]] of Object.entries(refused)) {
    stack.use(
      await engine.runContainer({
        name: name(key),
        labels: labelled(name(key), path),
        command: ["sleep", "100000"],
        options: ["--stop-signal=KILL"],
      }),
    );
  }

  const report = await host.scan();
  for (const [key, [path, error]] of Object.entries(refused)) {
    const found = report.stacks.find((each: FoundStack) => each.name === name(key)) as FoundStack;
    const others = found.candidates.filter(({ kind }) => kind !== "generated");
    ok(others.every((each) => each.error !== undefined), `${key}: ${JSON.stringify(others)}`);
    match(others[0]?.error ?? "", error, `${key}: ${path}`);
    equal(found.source.kind, "generated", key);
  }
  ok(!JSON.stringify(report).includes("secret-of-the-host"));
  equal(await host.helpers(), 0);

  // A choice is one of the mounts, or a path of the host, and nothing in between.
  for (
    const chosen of [
      { kind: "mount", path: "/etc/passwd", through: name("manager") },
      { kind: "mount", path: "/files/x/etc/passwd", through: name("manager") },
      { kind: "host", path: join(stacks, "away/compose.yaml") },
    ]
  ) {
    const answer = await app.call("POST", "/api/takeover", {
      stacks: [],
      sources: { [name("missing")]: chosen },
    });
    equal(answer.status, 409, JSON.stringify(answer.body));
  }
  for (const path of ["relative.yaml", "/opt/../etc/passwd", "/a,b", "/a\n", ""]) {
    const sources = { [name("missing")]: { kind: "host", path } };
    equal((await app.call("POST", "/api/takeover", { sources })).status, 400, path);
  }
};

engineTest(
  "files outside of the mounts of labels, links, devices and large files are not read",
  limits,
);
long(podmanTest)(
  "files outside of the mounts of labels, links, devices and large files are not read with Podman",
  limits,
);

long(engineTest)(
  "only containers of Longshore are asked for files, with one mount that is read-only",
  async (engine) => {
    const directory = await Deno.makeTempDir({ prefix: "ls-" });
    await using stack = new AsyncDisposableStack();
    stack.defer(() => Deno.remove(directory, { recursive: true }));
    const proxy = stack.use(startEngineProxy(engine.socketPath, directory));
    await using host = await takeoverHost({ ...engine, socketPath: proxy.socketPath });
    const { name, root } = host;
    await host.write({ [join(root, "volume/x/compose.yaml")]: text });
    const volume = name("files");
    stack.defer(async () => void await engine.docker("volume", "rm", volume));
    stack.use(
      await host.manager({
        name: name("manager"),
        source: volume,
        at: "/files",
        from: join(root, "volume"),
      }),
    );
    const path = join(host.stacks, "host/compose.yaml");
    await host.write({ [path]: text });
    stack.use(
      await engine.runContainer({
        labels: labelled(name("host"), path),
        command: ["sleep", "1000"],
        options: ["--stop-signal=KILL"],
      }),
    );
    const web = stack.use(
      await engine.runContainer({
        labels: labelled(name("web"), "/files/x/compose.yaml"),
        command: ["sleep", "1000"],
        options: ["--stop-signal=KILL"],
      }),
    );
    const client = connectEngine(engine.socketPath);
    stack.defer(() => client.close());

    const calls: EngineCall[] = [];
    const helpers = new Map<string, unknown>();
    proxy.observe(async ({ method, path }, moment) => {
      if (moment === "after") return;
      calls.push({ method, path });
      const id = /^\/containers\/([0-9a-f]{64})\/archive$/.exec(path)?.[1];
      if (id && !helpers.has(id)) {
        const { HostConfig, State, Config } = await client.json<{
          HostConfig: { Mounts: unknown[]; VolumesFrom: unknown };
          State: { Status: string };
          Config: { Labels: Record<string, string> };
        }>("GET", `/containers/${id}/json`);
        helpers.set(id, {
          status: State.Status,
          mounts: HostConfig.Mounts.length,
          isReadOnly: HostConfig.Mounts.every((each) => (each as { ReadOnly: boolean }).ReadOnly),
          from: HostConfig.VolumesFrom,
          isOwn: Config.Labels["longshore.helper"] !== undefined,
        });
      }
    });
    await host.scan();
    const { status, body } = await host.app.call("POST", "/api/takeover", {
      stacks: [name("web"), name("host")],
      acceptRecreate: true,
    });
    equal(status, 202, JSON.stringify(body));
    deepEqual((await host.ended(body.id)).result.refused, []);
    const archives = calls.filter(({ path }) => path.endsWith("/archive"));
    ok(archives.length > 0);
    ok(archives.every(({ path }) => helpers.has(path.split("/")[2]!)), JSON.stringify(archives));
    deepEqual(
      [...helpers.values()],
      [...helpers.values()].map(() => ({
        status: "created",
        mounts: 1,
        isReadOnly: true,
        from: null,
        isOwn: true,
      })),
    );
    const changing = calls.filter(({ method }) => method !== "GET" && method !== "HEAD")
      .map(({ method, path }) => `${method} ${path.replace(/[0-9a-f]{64}/, "ID")}`)
      // The empty image of the container, the first time.
      .filter((call) => call !== "POST /images/create");
    deepEqual(new Set(changing), new Set(["POST /containers/create", "DELETE /containers/ID"]));
    ok(!changing.some((call) => call.includes(web.id)));
  },
);
