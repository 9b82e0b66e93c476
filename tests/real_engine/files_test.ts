/** Files of volumes, containers and stacks over the API. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { join } from "node:path";
import { type LiveApp, liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest } from "../helpers/real_engine.ts";

interface Listed {
  name: string;
  path: string;
  type: string;
  size: number;
  mode: string;
  uid: number;
}

/** The endpoints for files below a path. */
function filesOf(app: LiveApp, base: string) {
  const at = (part: string, path: string) => `${base}/${part}?path=${encodeURIComponent(path)}`;
  return {
    list: (path: string) => app.call("GET", at("files", path)),
    async names(path: string): Promise<string[]> {
      const { body, status } = await app.call("GET", at("files", path));
      equal(status, 200, JSON.stringify(body));
      return body.files.map(({ name }: Listed) => name);
    },
    get: (path: string, headers: Record<string, string> = {}) =>
      app.fetch("GET", at("file", path), undefined, { headers }),
    text: async (path: string) => await (await app.fetch("GET", at("file", path))).text(),
    put: (path: string, text: string, headers: Record<string, string>) =>
      app.call("PUT", at("file", path), text, {
        headers: { "content-type": "text/plain", ...headers },
      }),
    upload: (path: string, bytes: Uint8Array, headers: Record<string, string> = {}) =>
      app.call("PUT", at("file", path), bytes, {
        headers: {
          "content-type": "application/octet-stream",
          "content-length": String(bytes.length),
          ...headers,
        },
      }),
    remove: (path: string) => app.call("DELETE", at("file", path)),
    rename: (path: string, to: string) => app.call("POST", `${base}/files/rename`, { path, to }),
    folder: (path: string) => app.call("POST", `${base}/files/folder`, { path }),
  };
}

const create = { "if-none-match": "*" };

/** Checks that are the same for every place. `sh` runs a command there as root, in the directory with the files. */
async function checkPlace(
  files: ReturnType<typeof filesOf>,
  base: string,
  sh: (command: string) => Promise<string>,
) {
  const path = (name: string) => `${base}/${name}`;
  const created = await files.put(path("app.conf"), "one\n", create);
  equal(created.status, 200, JSON.stringify(created.body));
  equal(created.body.mode, "0644");
  equal((await files.put(path("app.conf"), "two\n", create)).status, 412, "it exists");
  equal((await files.put(path("app.conf"), "two\n", {})).status, 428);
  await sh("chown 7:8 app.conf; chmod 4640 app.conf; ln -s app.conf link; mkfifo fifo");

  const read = await files.get(path("app.conf"));
  equal(await read.text(), "one\n");
  const etag = read.headers.get("etag")!;
  const changed = await files.put(path("app.conf"), "second\n", { "if-match": etag });
  equal(changed.status, 200, JSON.stringify(changed.body));
  equal(await sh("cat app.conf; stat -c '%a %u %g' app.conf"), "second\n640 7 8");
  equal((await files.put(path("app.conf"), "lost\n", { "if-match": etag })).status, 412);
  const { etag: next } = changed.body;
  const both = await Promise.all(
    ["a\n", "b\n"].map((text) => files.put(path("app.conf"), text, { "if-match": next })),
  );
  equal(both.filter(({ status }) => status === 200).length, 1, "one of two writers wins");

  const bytes = crypto.getRandomValues(new Uint8Array(3000));
  equal((await files.upload(path("bytes"), bytes)).status, 200);
  const part = await files.get(path("bytes"), { range: "bytes=-1000" });
  equal(part.status, 206);
  equal(part.headers.get("content-range"), "bytes 2000-2999/3000");
  deepEqual(await part.bytes(), bytes.slice(2000));
  const middle = await files.get(path("bytes"), { range: "bytes=10-19" });
  deepEqual(await middle.bytes(), bytes.slice(10, 20));
  equal((await files.get(path("bytes"), { range: "bytes=3000-" })).status, 416);
  const short = await files.upload(path("bytes"), bytes, { "content-length": "3001" });
  equal(short.status, 409, "an incomplete upload changes nothing");

  for (const name of ["link", "fifo"]) {
    equal((await files.get(path(name))).status, 409, name);
    equal((await files.put(path(name), "x", { "if-match": "*" })).status, 409, name);
  }
  equal((await files.folder(path("new"))).status, 200);
  equal((await files.rename(path("bytes"), path("new/b%FF\n-x"))).status, 200);
  equal((await files.rename(path("link"), path("new"))).status, 409);
  equal((await files.rename(path("new"), path("new/inner"))).status, 409);
  deepEqual(await files.names(path("new")), ["b%FF\n-x"]);
  const odd = await files.get(path("new/b%FF\n-x"));
  deepEqual(await odd.bytes(), bytes);

  await sh("ln -s new out");
  match((await files.list(path("out"))).body.error, /is behind a symbolic link/);
  equal((await files.remove(path("out/b%FF\n-x"))).status, 409);
  equal((await files.remove(path("new"))).status, 200);
  equal((await files.remove(path("new"))).status, 404);
  equal((await files.list(path("../x"))).status, 400);
  deepEqual(await files.names(base === "" ? "/" : base), ["app.conf", "fifo", "link", "out"]);
}

long(engineTest)("files of a volume", async (engine) => {
  await using app = await liveApp(engine.socketPath);
  const name = `files-${crypto.randomUUID().slice(0, 8)}`;
  await engine.docker("volume", "create", name);
  const files = filesOf(app, `/api/volumes/${name}`);
  try {
    const without = await files.put("/x", "x", create);
    equal(without.status, 409, "no container uses it");
    match(without.body.error, /set HELPER_IMAGE/);
    deepEqual(await files.names("/"), []);

    {
      await using user = await engine.runContainer({ options: [`--volume=${name}:/data`] });
      const sh = (command: string) =>
        engine.docker("exec", user.name, "sh", "-c", `cd /data; ${command}`);
      await checkPlace(files, "", sh);
      deepEqual((await files.list("/")).body.runningContainers, [user.name]);

      using _ = app.deps.reservations.reserve({ id: user.id, name: user.name }, "updated");
      const busy = await files.folder("/busy");
      equal(busy.body.error, `${user.name} is being updated`);
    }
    {
      await using _reader = await engine.runContainer({ options: [`--volume=${name}:/data:ro`] });
      await using _around = await engine.runContainer({ options: ["--volume=/:/rootfs"] });
      ok((await files.names("/")).includes("fifo"), "its programs may read");
      match((await files.folder("/more")).body.error, /set HELPER_IMAGE/);
    }
    // Without a user, no image has the programs, so that archives are read.
    deepEqual(
      await files.names("/"),
      ["app.conf", "fifo", "link", "out"].filter((name) => name !== "fifo"),
    );
    equal((await files.text("/app.conf")).length, 2);
    equal(await (await files.get("/app.conf", { range: "bytes=1-" })).text(), "\n");
    equal((await files.get("/link")).status, 409);
    equal((await files.get("/out/x")).status, 409);
    equal((await files.get("/none")).status, 404);
  } finally {
    await engine.docker("volume", "rm", name);
  }
});

engineTest("files of a container, which may be hostile", async (engine) => {
  await using app = await liveApp(engine.socketPath);
  await using user = await engine.runContainer();
  const sh = (command: string) => engine.docker("exec", user.name, "busybox", "sh", "-c", command);
  const files = filesOf(app, `/api/containers/${user.name}`);
  await sh("mkdir /area");
  await checkPlace(files, "/area", (command) => sh(`cd /area; ${command}`));
  ok((await files.names("/")).includes("area"));
  equal(
    await sh("ps | grep -c '[r]ead -r'; ps | grep -c '\\[sh\\]' || :"),
    "0\n0",
    "nothing is left",
  );

  await checkHostile(files, sh);
  await engine.docker("stop", user.name);
  const stopped = await files.list("/");
  equal(stopped.status, 409);
  // The engine's event may not have arrived yet.
  match(stopped.body.error, /^Container \S+ is (exited, )?not running$/);
});

/** Replaces the shell of a container by a program of an attacker, who answers as it suits. */
async function checkHostile(
  files: ReturnType<typeof filesOf>,
  sh: (command: string) => Promise<string>,
) {
  const evil = `printf '#!/bin/busybox sh\\n. /evil\\n' > /evil.sh; chmod +x /evil.sh`;
  await sh(`${evil}; echo exit > /evil; rm /bin/sh; /bin/busybox ln -s /evil.sh /bin/sh`);
  const answer = (script: string) => sh(`echo '${script}' > /evil`);

  for (
    const output of [
      "while :; do echo x; done",
      "head -c 40000000 /dev/zero",
      'echo "81a4 1 1 0 0 ./../../etc/passwd/"; head -c 9999 /dev/zero',
      'echo "OCI runtime exec failed"; exit 1',
    ]
  ) {
    await answer(output);
    const listed = await files.list("/area");
    equal(listed.status, 409, output);
    ok(listed.body.error.length < 500);
    equal((await files.get("/area/app.conf")).status, 409, output);
    const written = await files.put("/area/app.conf", "x", create);
    ok(written.status === 409 || written.status === 200, "it is their own file");
  }
  await answer("echo 81a4 3 1 0 0; while :; do echo x; done");
  equal(await files.text("/area/app.conf"), "x\nx", "as long as they said");
  await answer("echo 81a4 9999999999999999 1 0 0; echo x");
  equal((await files.get("/area/app.conf")).status, 409, "larger than any file");
  await answer("echo find >&2; exit 92");
  match((await files.list("/area")).body.error, /has no find, with which/);
  await sh("rm /bin/sh");
  match((await files.list("/area")).body.error, /has no shell \(sh\)/);
}

long(engineTest)("files of a stack's directory", async (engine) => {
  const root = await Deno.makeTempDir({ prefix: "longshore-test-" });
  const outside = await Deno.makeTempDir({ prefix: "longshore-test-" });
  const config = { stackRoots: [root], helperImage: BUSYBOX };
  await using app = await liveApp(engine.socketPath, { config });
  const name = `files${crypto.randomUUID().slice(0, 8)}`;
  const directory = join(root, name);
  try {
    const compose = "services:\n  web:\n    image: x\n    env_file: web.env\n";
    await Deno.mkdir(join(directory, "sub"), { recursive: true });
    await Deno.writeTextFile(join(directory, "web.env"), "A=1\n");
    const stored = await app.call("POST", "/api/stacks", {
      name,
      compose,
      directory,
      deploy: false,
    });
    equal(stored.status, 201, JSON.stringify(stored.body));
    const files = filesOf(app, `/api/stacks/${name}`);
    await checkPlace(files, "/sub", (command) => onHost(join(directory, "sub"), command));

    equal(await files.text("/compose.yaml"), compose);
    for (const path of ["/compose.yaml", "/web.env", "/.env", "/sub/docker-compose.yml"]) {
      const refused = await files.put(path, "x", { "if-match": "*" });
      equal(refused.status, 409, path);
      match(refused.body.error, /change it in the source editor/);
    }
    equal((await files.rename("/sub/app.conf", "/.env")).status, 409);
    equal((await files.remove("/compose.yaml")).status, 409);

    // The directory around has other stacks, which the image of a container must not reach.
    {
      await using _user = await engine.runContainer({ options: [`--volume=${directory}:/data`] });
      app.deps.config.helperImage = null;
      const refused = await files.folder("/sub/more");
      equal(refused.status, 409, JSON.stringify(refused.body));
      match(refused.body.error, /set HELPER_IMAGE/);
      ok((await files.names("/sub")).includes("app.conf"), "as an archive");
      app.deps.config.helperImage = BUSYBOX;
    }

    // A container that has STACK_ROOTS mounted replaces the directory.
    await Deno.rename(directory, `${directory}.old`);
    await Deno.symlink(outside, directory);
    for (const answer of [await files.list("/"), await files.upload("/x", new Uint8Array(1))]) {
      equal(answer.status, 409, JSON.stringify(answer.body));
    }
    deepEqual([...Deno.readDirSync(outside)], []);
  } finally {
    await Deno.remove(root, { recursive: true });
    await Deno.remove(outside, { recursive: true });
  }
});

async function onHost(directory: string, command: string): Promise<string> {
  const { stdout, code } = await new Deno.Command("sh", {
    args: ["-c", command],
    cwd: directory,
  }).output();
  equal(code, 0, command);
  return new TextDecoder().decode(stdout).trim();
}
