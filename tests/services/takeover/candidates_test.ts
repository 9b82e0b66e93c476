import { deepEqual, equal } from "node:assert/strict";
import { candidatesOf } from "../../../services/takeover/candidates.ts";
import { movedOrigin, originsOf } from "../../../services/takeover/origins.ts";
import type { Container } from "../../../services/containers/inventory.ts";
import { containerOf } from "../../helpers/fake_containers.ts";

const PREFIX = "com.docker.compose.project";

const labelled = (name: string, directory: string, files: string, environment = "") =>
  containerOf({
    name,
    labels: {
      [`${PREFIX}.working_dir`]: directory,
      [`${PREFIX}.config_files`]: files,
      ...(environment && { [`${PREFIX}.environment_file`]: environment }),
    },
  });

const mounted = (
  name: string,
  destination: string,
  source: string,
  state: Container["state"] = "running",
) => {
  const container = containerOf({ name, state });
  const isVolume = !source.startsWith("/");
  const mount = {
    type: isVolume ? "volume" : "bind",
    name: isVolume ? source : null,
    source: isVolume ? `/var/lib/docker/volumes/${source}/_data` : source,
    destination,
    readOnly: false,
  };
  return { ...container, details: { ...container.details, mounts: [mount] } };
};

Deno.test("originsOf() reads the labels of each container once, the newest first", () => {
  deepEqual(
    originsOf([
      labelled("b", "/data/12/v3", "docker-compose.yml,../over.yml", "/data/12/v3/stack.env"),
      labelled("a", "/data/12/v2", "/data/12/v2/docker-compose.yml"),
      labelled("c", "/data/12/v3", "docker-compose.yml,../over.yml", "/data/12/v3/stack.env"),
    ]),
    [
      {
        directory: "/data/12/v3",
        configFiles: ["/data/12/v3/docker-compose.yml", "/data/12/over.yml"],
        envFiles: ["/data/12/v3/stack.env"],
      },
      {
        directory: "/data/12/v2",
        configFiles: ["/data/12/v2/docker-compose.yml"],
        envFiles: [],
      },
    ],
  );
});

Deno.test("originsOf() keeps the order of files of variables around .env", () => {
  const filesOf = (environment: string) =>
    originsOf([labelled("a", "/s/a", "compose.yaml", environment)])[0]!.envFiles;
  deepEqual(filesOf("/s/global.env,/s/a/.env"), ["/s/global.env", "/s/a/.env"]);
  deepEqual(filesOf("/s/a/.env,/s/a/more.env"), ["/s/a/more.env"]);
});

Deno.test("originsOf() reads files that are named relative to where docker-compose 1 was started", () => {
  const relative = labelled("a", "/s/shop", "s/shop/prod.yaml,s/common.yaml", "s/shop/prod.env");
  const origins = originsOf([relative, labelled("b", "/s/shop", "/s/shop/old.yaml")]);
  deepEqual(origins[0], {
    directory: "/s/shop",
    configFiles: ["/s/shop/prod.yaml", "/s/common.yaml"],
    envFiles: ["/s/shop/prod.env"],
  });
  deepEqual(origins.slice(1).map(({ configFiles }) => configFiles.join()), [
    "/s/shop/old.yaml",
    "/s/shop/s/shop/prod.yaml,/s/shop/s/common.yaml",
    "/s/shop/compose.yaml",
    "/s/shop/compose.yml",
    "/s/shop/docker-compose.yml",
    "/s/shop/docker-compose.yaml",
  ]);
});

for (
  const [what, directory, files] of [
    ["no directory", "", "/a/compose.yaml"],
    ["a relative directory", "a", "compose.yaml"],
    ["no file", "/a", ""],
    ["the root", "/a", "/compose.yaml/.."],
    ["a control character", "/a", "/a/b\u0000.yaml"],
    ["a long path", "/a", `/${"a".repeat(2_000)}`],
    ["many files", "/a", Array.from({ length: 21 }, (_, at) => `/a/${at}`).join()],
  ] as const
) {
  Deno.test(`originsOf() ignores labels with ${what}`, () =>
    deepEqual(originsOf([labelled("a", directory, files)]), []));
}

const ORIGIN = {
  directory: "/data/compose/12",
  configFiles: ["/data/compose/12/compose.yaml"],
  envFiles: [],
};

const shown = (containers: Container[], stackRoots: string[] = [], origins = [ORIGIN]) =>
  candidatesOf(origins, { containers, stackRoots }).map(({ source, mount, at, isOnDisk }) => [
    source.kind,
    source.through ?? null,
    mount.source,
    at,
    isOnDisk,
  ]);

Deno.test("candidatesOf() begins with the host, then has the longest mount first", () => {
  deepEqual(
    shown([
      mounted("short", "/data", "one"),
      mounted("long", "/data/compose", "two", "exited"),
      mounted("other", "/data/composer", "three"),
      mounted("file", "/data/compose/12/compose.yaml", "/x/compose.yaml"),
      mounted("host", "/data", "/"),
      mounted("rootfs", "/", "four"),
    ], ["/data/compose"]),
    [
      ["host", null, "/data/compose", "/data/compose", true],
      ["mount", "long", "two", "/data/compose", false],
      ["mount", "short", "one", "/data", false],
    ],
  );
});

Deno.test("candidatesOf() reads the same files once", () => {
  const containers = [
    mounted("stopped", "/data", "one", "exited"),
    mounted("running", "/data", "one"),
    mounted("same", "/data/compose", "/data/compose"),
  ];
  deepEqual(shown(containers, ["/data"]), [
    ["host", null, "/data", "/data", true],
    ["mount", "running", "one", "/data", false],
  ]);
  equal(shown([mounted("a", "/data", "one")], [], [ORIGIN, { ...ORIGIN, envFiles: [] }]).length, 1);
});

Deno.test("files below STACK_ROOTS of a project elsewhere are not written", () => {
  const origin = { ...ORIGIN, directory: "/srv/12" };
  deepEqual(shown([], ["/data"], [origin]), [["host", null, "/data", "/data", false]]);
});

Deno.test("candidatesOf() takes a choice from the candidates, or any path of the host", () => {
  const containers = [mounted("a", "/data", "one"), mounted("b", "/data/compose", "two")];
  const choose = (chosen: { kind: "host" | "mount"; path: string; through?: string }) =>
    candidatesOf([ORIGIN], { containers, stackRoots: [], chosen });
  const [path] = ORIGIN.configFiles as [string];
  deepEqual(choose({ kind: "mount", path, through: "a" }).map(({ mount }) => mount.source), [
    "one",
  ]);
  deepEqual(choose({ kind: "mount", path: "/etc/passwd" }), []);
  deepEqual(choose({ kind: "host", path: "/srv/12/c.yaml" }), [{
    source: { kind: "host", path: "/srv/12/c.yaml" },
    origin: { ...ORIGIN, configFiles: ["/srv/12/c.yaml"] },
    mount: { type: "bind", source: "/srv/12" },
    at: "/srv/12",
    isOnDisk: false,
  }]);
});

Deno.test("movedOrigin() moves the files around the first one, and keeps the base of paths", () => {
  deepEqual(
    movedOrigin({
      directory: "/in/a",
      configFiles: ["/in/a/compose.yaml", "/in/a/sub/over.yaml", "/else/more.yaml"],
      envFiles: ["/in/a/stack.env"],
    }, "/out/b/docker-compose.yml"),
    {
      directory: "/in/a",
      configFiles: ["/out/b/docker-compose.yml", "/out/b/sub/over.yaml", "/else/more.yaml"],
      envFiles: ["/out/b/stack.env"],
    },
  );
});
