/** The image of a release, made without an engine and started on one. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { writeImage } from "../../deploy/release/image.ts";
import { writeBaseImage } from "../helpers/base_image.ts";
import { EXECUTABLE } from "../helpers/program.ts";
import { privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";
import { runInside } from "../helpers/sandbox.ts";
import { eventually } from "../helpers/until.ts";

/** Group of the engine's socket, as on no host in particular. */
const GROUP = 4321;

const RIGHTS = /^(Uid|Gid|Groups|CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs):\s*(.*?)\s*$/gm;

const NONE = "0000000000000000";

const NO_RIGHTS = {
  Uid: "65532\t65532\t65532\t65532",
  Gid: "65532\t65532\t65532\t65532",
  Groups: `${GROUP}`,
  CapInh: NONE,
  CapPrm: NONE,
  CapEff: NONE,
  CapBnd: NONE,
  CapAmb: NONE,
  NoNewPrivs: "1",
};

if (EXECUTABLE !== undefined) {
  privateEngineTest(
    "the image of a release starts as it stands, with no right but the socket's group",
    async (engine) => {
      const directory = await Deno.makeTempDir({ prefix: "longshore-image-test-" });
      try {
        await writeBaseImage(`${directory}/base`);
        await writeImage(`${directory}/image.tar`, {
          version: "1.2.3",
          target: Deno.build.target,
          base: `${directory}/base`,
          executable: EXECUTABLE!,
          created: "2026-01-31T12:00:00.000Z",
          level: 1,
        });
        const docker = dockerOf(engine);
        match(await docker("load", "--input", `${directory}/image.tar`), /longshore:1\.2\.3/);
        await Deno.chown(engine.socketPath, 0, GROUP);
        await Deno.chmod(engine.socketPath, 0o660);
        await checkStart(docker, (...command) => runInside(engine.sandbox, command), [
          ...["--publish", "3000:3000"],
          ...["--volume", `${engine.socketPath}:/var/run/docker.sock`],
        ]);
        // As in deploy/compose.yaml.
        const limited =
          "--read-only --tmpfs=/tmp --cap-drop=ALL --cap-add=SETGID --cap-add=SETPCAP " +
          "--cap-add=SETUID --security-opt=no-new-privileges:true --publish=3000:3000";
        await checkStart(docker, (...command) => runInside(engine.sandbox, command), [
          ...limited.split(" "),
          ...["--volume", `${engine.socketPath}:/var/run/docker.sock`],
        ]);
      } finally {
        await Deno.remove(directory, { recursive: true });
      }
    },
  );
}

type Run = (...args: string[]) => Promise<string>;

async function checkStart(docker: Run, inside: Run, options: string[]): Promise<void> {
  const id = await docker(
    ...["run", "--detach", "--name", "longshore-image", "--volume", "longshore-image:/data"],
    ...options,
    "longshore:1.2.3",
  );
  const exec = (...args: string[]) => docker("exec", "longshore-image", ...args);
  try {
    await eventually(async () =>
      match(await docker("logs", "longshore-image"), /^Set up: open http/m)
    );
    const status = await exec("cat", "/proc/1/status");
    deepEqual(
      Object.fromEntries([...status.matchAll(RIGHTS)].map(([, name, value]) => [name, value])),
      NO_RIGHTS,
    );
    match(await docker("logs", "longshore-image"), /^Engine: Docker /m);
    await exec("longshore", "healthcheck");
    const check = await docker("inspect", "--format", "{{.Config.Healthcheck.Test}}", id);
    equal(check, "[CMD longshore healthcheck]");
    // A command in the container has the same user, so that the service can use its files.
    const token = await exec("longshore", "token", "create", "test", "--role", "admin");
    const asOwner = ["exec", "--user", "65532", "longshore-image"];
    equal(await docker(...asOwner, "find", "/data", "!", "-uid", "65532"), "");
    const own = await inside(
      ...["curl", "-s", "-X", "POST", "-H", `Authorization: Bearer ${token}`],
      "http://127.0.0.1:3000/api/containers/longshore-image/stop",
    );
    match(own, /longshore-image is the service's own container/);
    ok(!(await docker("logs", "longshore-image")).includes("own container not found"));
  } finally {
    await docker("rm", "--force", "--volumes", id);
    await docker("volume", "rm", "longshore-image");
  }
}

function dockerOf({ socketPath }: RealEngine): Run {
  return async (...args) => {
    const { success, stdout, stderr } = await new Deno.Command("docker", {
      args,
      env: { DOCKER_HOST: `unix://${socketPath}`, DOCKER_CONFIG: "/nonexistent" },
      stdin: "null",
    }).output();
    const text = new TextDecoder().decode(stdout) +
      (args[0] === "logs" ? new TextDecoder().decode(stderr) : "");
    if (success) return text.trim();
    throw new Error(`docker ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  };
}
