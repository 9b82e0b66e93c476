/** `install.sh` of a release, on a host of its own; see `tests/helpers/service_host.ts`. @module */

import { deepEqual, doesNotMatch, equal, match, ok } from "node:assert/strict";
import { installScript } from "../../../deploy/release/install_script.ts";
import { FULL_DRILL_SEED } from "../../helpers/drill.ts";
import { long } from "../../helpers/long.ts";
import { programCommand } from "../../helpers/program.ts";
import { missingProgram, sandboxObstacle, startDaemon } from "../../helpers/sandbox.ts";
import {
  differences,
  openServiceHost,
  program,
  serveReally,
  type ServiceHost,
} from "../../helpers/service_host.ts";
import { createKey, signText } from "../../helpers/ssh_keys.ts";
import { eventually } from "../../helpers/until.ts";
import { VERSION } from "../../../services/version.ts";

const SCRIPT = new URL("../../../deploy/release/install.sh", import.meta.url).pathname;
const EXECUTABLE = "/usr/local/bin/longshore";
const UNIT_LINK = "/etc/systemd/system/multi-user.target.wants/longshore.service";

const obstacle = sandboxObstacle() ?? missingProgram("ssh-keygen", "curl", "useradd");

function hostTest(name: string, run: (host: ServiceHost) => Promise<void>): void {
  Deno.test({
    name,
    ignore: obstacle !== undefined,
    async fn() {
      await using host = await openServiceHost();
      await run(host);
    },
  });
}

hostTest(
  "install.sh installs, says so when it is there, and is removed with or without the data",
  async (host) => {
    await host.release("release");
    const before = await host.snapshot();
    const from = ["--from", `${host.sandbox.directory}/release`];

    const dry = await host.run("release", [...from, "--dry-run"]);
    equal(dry.code, 0, dry.stderr);
    deepEqual(differences(before, await host.snapshot()), []);
    const installed = await host.run("release", from);
    equal(installed.code, 0, installed.stderr);
    ok(installed.stdout.startsWith(dry.stdout.trimEnd()), "a dry run prints the same steps");
    match(installed.stdout, /^Verify the signature of SHA256SUMS$/m);
    match(installed.stdout, /is ready\.\nDashboard: http:\/\/localhost:3000\/\n/);
    equal(
      await host.inside(
        `stat -c '%a %U %n' /var/lib/longshore /etc/longshore/longshore.env ${EXECUTABLE}`,
      ),
      `700 longshore /var/lib/longshore\n600 root /etc/longshore/longshore.env\n755 root ${EXECUTABLE}\n`,
    );
    match((await host.run("release", from)).stdout, /^Longshore \S+ is installed and runs\n$/);
    const asked = await host.run("release", ["--uninstall", "--purge"]);
    match(asked.stderr, /^install\.sh: --purge asks on the terminal, and there is none\n$/);
    match((await host.run("release", ["--uninstall"])).stdout, /^Kept: .*\/var\/lib\/longshore/m);
    equal(
      await host.inside(`ls -d ${EXECUTABLE} ${UNIT_LINK} /etc/longshore 2>/dev/null; true`),
      "/etc/longshore\n",
    );
    const answer =
      `echo yes | script -qec "sh ${host.sandbox.directory}/release/install.sh --uninstall --purge" /dev/null`;
    match(
      await host.inside(`export PATH=$PWD/steps/bin:$PATH STEPS=$PWD/steps; ${answer}`),
      /Delete the user longshore/,
    );
    // Docker's group stays, because others may use it.
    const left = differences(before, await host.snapshot());
    deepEqual(left.filter((line) => !line.startsWith("+ docker:")), []);
  },
);

/** SIGTERM arrives while a step works; Ctrl-C (SIGINT) also ends the step. */
type Signals = readonly ("TERM" | "INT")[];

/** By default each fourth step, in turn with each signal; `deno task drill` sends both to every step. */
const ROUNDS: readonly Signals[] = FULL_DRILL_SEED ? [["TERM"], ["INT"]] : [["TERM", "INT"]];
const STEP = FULL_DRILL_SEED ? 1 : 4;

/**
 * Interrupts runs at one step after the other, until one ends before the next of them.
 *
 * @returns The steps after which something was left, with what it is; and the number of steps.
 */
async function interruptEachStep(host: ServiceHost, release: string, signals: Signals) {
  const args = ["--from", `${host.sandbox.directory}/${release}`];
  const before = await host.snapshot();
  const left: string[] = [];
  for (let at = 1;; at += STEP) {
    const signal = signals[(at - 1) / STEP % signals.length]!;
    const run = await host.run(release, args, { at, signal });
    if (run.code === 0) return { left, steps: at - STEP };
    match(run.stderr, /^install\.sh: [^\n]+\n$/);
    const changes = differences(before, await host.snapshot());
    if (changes.length > 0) left.push((await host.steps())[at - 1]!, ...changes);
  }
}

for (const signals of ROUNDS) {
  hostTest(
    `install.sh leaves nothing if SIG${signals} ends it at any of its steps`,
    async (host) => {
      await host.release("release");

      const { left, steps } = await interruptEachStep(host, "release", signals);

      deepEqual(left, []);
      ok(steps > 25, `only ${steps} steps`);
    },
  );

  long(hostTest)(
    `an upgrade by install.sh leaves the former version if SIG${signals} ends it at any of its steps`,
    async (host) => {
      await host.release("old", { version: "0.0.1" });
      await host.release("new", { version: "999.0.0" });
      equal((await host.run("old", ["--from", `${host.sandbox.directory}/old`])).code, 0);

      const { left, steps } = await interruptEachStep(host, "new", signals);

      deepEqual(left, []);
      ok(steps > 15, `only ${steps} steps`);
      match(await host.inside(`${EXECUTABLE} version`), /^longshore 999\.0\.0 /);
    },
  );
}

hostTest(
  "a run after one that was killed at its last steps completes the installation",
  async (host) => {
    await host.release("release");
    const args = ["--from", `${host.sandbox.directory}/release`];
    await host.run("release", args);
    const steps = (await host.steps()).map((step, index) => ({ step, at: index + 1 }));
    const last = steps.filter(({ step }) => /^(useradd|mv|systemctl) /.test(step));
    ok(last.length >= 7, String(last.length));
    for (const { step, at } of last) {
      await host.run("release", ["--uninstall"]);
      await host.run("release", args, { at, signal: "KILL" });
      const { code, stderr } = await host.run("release", args);
      equal(code, 0, `${step}: ${stderr}`);
      await host.inside(`test -x ${EXECUTABLE} && test -e ${UNIT_LINK}`);
    }
  },
);

const edit = (name: string, change: (text: string) => string) => async (directory: string) => {
  const path = `${directory}/${name}`;
  await Deno.writeTextFile(path, change(await Deno.readTextFile(path)));
};

const FAILURES: {
  when: string;
  prepare?: (host: ServiceHost) => Promise<unknown>;
  damage?: (directory: string) => Promise<void>;
  serve?: string;
  args?: string[];
  sentence: RegExp;
}[] = [
  {
    when: "the executable is not the one that was signed",
    damage: async (directory) => {
      for await (const { name } of Deno.readDir(directory)) {
        if (name.startsWith("longshore-0")) await edit(name, (text) => `${text} `)(directory);
      }
    },
    sentence: /its content is not the one that SHA256SUMS lists$/,
  },
  {
    when: "the checksums were changed",
    damage: edit("SHA256SUMS", (text) => `${text}${"0".repeat(64)}  more\n`),
    sentence: /Verify the signature of SHA256SUMS: .*(incorrect|verif|Signature)/,
  },
  {
    when: "another key signed the checksums",
    damage: async (directory) => {
      const sums = await Deno.readTextFile(`${directory}/SHA256SUMS`);
      const key = await createKey(`${directory}/..`);
      await Deno.writeTextFile(`${directory}/SHA256SUMS.sig`, await signText(key, sums));
    },
    sentence: /Verify the signature of SHA256SUMS: /,
  },
  {
    when: "the signature is missing",
    damage: (directory) => Deno.remove(`${directory}/SHA256SUMS.sig`),
    sentence: /SHA256SUMS\.sig'?: No such file/,
  },
  {
    when: "the work directory is full",
    prepare: (host) => host.inside("mount -t tmpfs -o size=16k tmpfs /var/tmp"),
    sentence: /^install\.sh: Copy .*No space left on device/,
  },
  {
    when: "the disk of the executable is full",
    prepare: (host) =>
      host.inside(
        "mkdir -p /usr/local/bin && mount -t tmpfs -o size=4k tmpfs /usr/local/bin && head -c 4096 /dev/zero >/usr/local/bin/other",
      ),
    sentence:
      /^install\.sh: Install \/usr\/local\/bin\/longshore: .*No space left on device; nothing/,
  },
  {
    when: "the port is in use",
    prepare: (host) => host.inside("busybox httpd -p 127.0.0.1:3000"),
    sentence: /^install\.sh: Port 3000 is in use; choose another one with --port/,
  },
  {
    when: "systemd does not run",
    prepare: (host) => host.inside("rmdir /run/systemd/system"),
    sentence: /^install\.sh: This host does not run systemd; run the container image instead/,
  },
  {
    when: "the service does not get ready",
    serve: "exit 1",
    sentence:
      /^install\.sh: Start the service \(.*\): Job for longshore\.service failed\.; nothing/,
  },
  {
    when: "the release has no such version",
    args: ["--version", "7.0.0"],
    sentence: /^install\.sh: The release has no longshore-7\.0\.0-/,
  },
];

for (const { when, prepare, damage, serve, args = [], sentence } of FAILURES) {
  hostTest(`install.sh says in one sentence that ${when}, and changes nothing`, async (host) => {
    await host.release("release", {
      executable: program("0.1.0", serve === undefined ? {} : { serve }),
      ...(damage && { damage }),
    });
    await prepare?.(host);
    const before = await host.snapshot();

    const run = await host.run("release", [
      ...["--from", `${host.sandbox.directory}/release`],
      ...args,
    ]);

    equal(run.code, 1);
    match(run.stderr.trimEnd(), sentence);
    equal(run.stderr.trimEnd().split("\n").length, 1);
    deepEqual(differences(before, await host.snapshot()), []);
  });
}

// One request each; a file that exists ends after half of the announced bytes if it is the one named.
const SERVER = `
  const [directory, truncated] = Deno.args;
  Deno.serve({ hostname: "127.0.0.1", port: 8080 }, async (request) => {
    const name = new URL(request.url).pathname.slice(1);
    const bytes = await Deno.readFile(directory + "/" + name).catch(() => undefined);
    if (bytes === undefined) return new Response(null, { status: 404 });
    if (name !== truncated) return new Response(bytes);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(bytes.subarray(0, bytes.length / 2));
        setTimeout(() => controller.error(new Error("cut")), 0);
      },
    });
    return new Response(body, { headers: { "content-length": String(bytes.length) } });
  });`;

hostTest("install.sh prints the address that listens", async (host) => {
  await host.release("release");
  const from = ["--from", `${host.sandbox.directory}/release`];
  const shown = async (args: string[]) =>
    (await host.run("release", [...from, ...args])).stdout.split(" is ready.\n")[1];
  equal(await shown(["--host", "192.168.1.5"]), "Dashboard: http://192.168.1.5:3000/\n");
  // The address of an installation is in its environment file.
  const start = async (address: string) => {
    await host.inside(`rm ${UNIT_LINK}; echo HOST=${address} >>/etc/longshore/longshore.env`);
    return await shown([]);
  };
  equal(await start("fd00::5"), "Dashboard: http://[fd00::5]:3000/\n");
  match(await start("::") ?? "", /^Dashboard: http:\/\/[\w.-]+:3000\/\n$/);
  match(
    await start("::1") ?? "",
    /^Dashboard: http:\/\/localhost:3000\/\nFrom another computer: ssh/,
  );
  await host.inside(
    "echo 'SERVICE_BASE_URL=\"https://example.com/longshore/\"' >>/etc/longshore/longshore.env",
  );
  equal(await start("::1"), "Dashboard: https://example.com/longshore/\n");
});

hostTest("install.sh downloads a release, and refuses a truncated one", async (host) => {
  await host.release("release", { url: "http://127.0.0.1:8080" });
  const directory = `${host.sandbox.directory}/release`;
  const serve = async (truncated: string) => {
    const file = `${host.sandbox.directory}/server.js`;
    await Deno.writeTextFile(file, SERVER);
    const command = [Deno.execPath(), "run", "-A", "--no-config", file, directory, truncated];
    return await startDaemon(
      host.sandbox,
      "server",
      command,
      () => host.inside("curl -s http://127.0.0.1:8080/").then(() => true, () => false),
    );
  };
  const before = await host.snapshot();
  {
    await using _server = await serve("longshore.service");
    const { code, stderr } = await host.run("release");
    equal(code, 1);
    match(
      stderr,
      /^install\.sh: Download http:\/\/127\.0\.0\.1:8080\/longshore\.service: curl: [^\n]+\n$/,
    );
    deepEqual(differences(before, await host.snapshot()), []);
  }
  await using _server = await serve("none");
  const { code, stderr } = await host.run("release");
  equal(code, 0, stderr);
});

hostTest(
  "install.sh joins a fleet by the line of an invite, which can be run again",
  async (host) => {
    const member = program(VERSION, { serve: serveReally() });
    await host.release("release", { executable: member, url: "http://127.0.0.1:8080/VERSION" });
    const { directory } = host.sandbox;
    const variables = `DATA_DIR=${directory}/hub PORT=4000 SERVER_NAME=hub FLEET_INSECURE=on`;
    await using _hub = await startDaemon(
      host.sandbox,
      "hub",
      ["env", ...variables.split(" "), ...programCommand(["serve"])],
      () => host.inside("curl -fs http://127.0.0.1:4000/health").then(() => true, () => false),
    );
    // Commands have SERVER_NAME and FLEET_INSECURE from the running service.
    const fleet = async (args: string) =>
      JSON.parse(
        await host.inside(
          `DATA_DIR=${directory}/hub ${programCommand([]).join(" ")} fleet ${args}`,
        ),
      );
    const invite = await fleet("invite --accept --address http://127.0.0.1:4000 --json");
    const [line, given] = invite.installCommand.split(" | sudo sh -s -- ");
    equal(line, "curl -fsSL RELEASE/install.sh");
    const args = ["--from", `${directory}/release`, ...given.split(" ")];

    const installed = await host.run("release", args);
    equal(installed.code, 0, installed.stderr);
    match(
      installed.stdout,
      /\nJoin the fleet\nHub: +http:\/\/127\.0\.0\.1:4000\n[^]*This host has joined the fleet of hub as /,
    );
    await eventually(async () => equal((await fleet("list --json")).hosts[0].state, "connected"));
    match(
      (await host.run("release", args)).stdout,
      /This host is in the fleet of hub as \S+ already/,
    );

    const refused = await host.run("release", [...args.slice(0, -1), "lsjoin_AQ"]);
    equal(refused.code, 1);
    equal(
      refused.stderr,
      "install.sh: Longshore is installed, but did not join the fleet: The token is damaged: copy the whole line again. See: longshore join --help\n",
    );
  },
);

hostTest("install.sh does not store an address that the service refuses", async (host) => {
  await host.release("release");
  const server = `busybox httpd -p 127.0.0.1:8080 -h "$PWD/served"`;
  await host.inside(`mkdir served && ln -s ../release "served/a+b" && ${server}`);
  // As an operator sets it.
  const url = "LONGSHORE_RELEASE_URL:-";
  await host.inside(`sed -i 's|${url}|&http://127.0.0.1:8080/a+b|' release/install.sh`);
  const { code, stderr } = await host.run("release");
  equal(code, 0, stderr);
  doesNotMatch(await host.inside("cat /etc/longshore/longshore.env"), /RELEASE_URL/);
});

hostTest("install.sh stores variables of a new installation", async (host) => {
  await host.release("release", { url: "http://127.0.0.1:8080/VERSION" });
  const server = `busybox httpd -p 127.0.0.1:8080 -h "$PWD/served"`;
  await host.inside(`mkdir served && ln -s ../release "served/${VERSION}" && ${server}`);
  const run = await host.run("release", ["--set", "FLEET_ALLOW=admin", "--set", "SERVER_NAME=a"]);
  equal(run.code, 0, run.stderr);
  match(
    await host.inside("cat /etc/longshore/longshore.env"),
    /\nRELEASE_URL=http:\/\/127\.0\.0\.1:8080\/VERSION\nFLEET_ALLOW=admin\nSERVER_NAME=a\n$/,
  );
  const again = await host.run("release", ["--set", "FLEET_ALLOW=viewer"]);
  match(
    again.stdout,
    /^--set is for new installations: \/etc\/longshore\/longshore\.env is not changed$/m,
  );
  for (const wrong of ["a=1", "A", "A=b c", "A=b\nHOST=::", "A='b'", "A=$b"]) {
    match((await host.run("release", ["--set", wrong])).stderr, /^install\.sh: --set is not a var/);
  }
  for (const wrong of [["--join", "a;b"], ["--join", "a", "--no-start"]]) {
    equal((await host.run("release", wrong)).code, 2);
  }
});

hostTest(
  "install.sh upgrades and keeps everything, or returns to the former version",
  async (host) => {
    await host.release("old", { version: "0.0.1" });
    await host.release("new", { version: "999.0.0" });
    await host.release("broken", {
      version: "999.0.0",
      executable: program("999.0.0", { serve: "exit 1" }),
    });
    const from = (name: string) => ["--from", `${host.sandbox.directory}/${name}`];
    equal((await host.run("old", from("old"))).code, 0);
    await host.inside("echo PORT=3100 >>/etc/longshore/longshore.env");
    const before = await host.snapshot();

    const failed = await host.run("broken", from("broken"));
    equal(failed.code, 1);
    match(
      failed.stderr,
      /^install\.sh: Version 999\.0\.0 did not get ready and 0\.0\.1 runs again; see/,
    );
    deepEqual(differences(before, await host.snapshot()), []);
    const older = await host.run("old", [...from("old"), "--dry-run"]);
    match(older.stdout, /^Longshore 0\.0\.1 is installed and runs$/m);

    const upgraded = await host.run("new", from("new"));
    equal(upgraded.code, 0, upgraded.stderr);
    match(
      upgraded.stdout,
      /^Longshore 999\.0\.0 is ready\.\nDashboard: http:\/\/localhost:3100\/$/m,
    );
    match(await host.inside("cat /etc/longshore/longshore.env"), /^PORT=3100$/m);
    equal(
      await host.inside(`${EXECUTABLE} version; ${EXECUTABLE}.previous version`),
      "longshore 999.0.0 (deno, x)\nlongshore 0.0.1 (deno, x)\n",
    );
    match((await host.run("old", from("old"))).stderr, /version 0\.0\.1, which is not newer/);
  },
);

hostTest("install.sh names the container image where the executable cannot run", async (host) => {
  const path = `${host.sandbox.directory}/install.sh`;
  await Deno.writeTextFile(path, await installScript({ version: "1.0.0", url: "", keys: [] }));
  const musl =
    `mkdir -p musl/lib musl/bin && cp install.sh musl/ && cp "$(command -v busybox)" musl/bin/ &&
    touch musl/lib/ld-musl-x86_64.so.1 musl/lib/ld-musl-aarch64.so.1 &&
    for name in sh id uname rm; do ln -s busybox musl/bin/$name; done &&
    ! chroot musl /bin/sh /install.sh 2>&1`;
  equal(
    await host.inside(musl),
    "install.sh: This host has musl and the executable needs glibc; run the container image instead\n",
  );
});

Deno.test({
  name: "install.sh is plain sh: shellcheck finds nothing",
  ignore: missingProgram("shellcheck") !== undefined,
  async fn() {
    const { code, stdout } = await new Deno.Command("shellcheck", { args: [SCRIPT] }).output();
    equal(code, 0, new TextDecoder().decode(stdout));
  },
});

Deno.test("no function of install.sh is longer than a screen, and nothing downloaded is run by a shell", async () => {
  const script = await Deno.readTextFile(SCRIPT);
  const long = [...script.matchAll(/^(\w+)\(\) \{\n([^]*?)^\}$/gm)]
    .filter(([, , body]) => body!.split("\n").length > 40).map(([, name]) => name);
  deepEqual(long, []);
  equal(
    /\|\s*(ba)?sh\b(?! install)|\beval "\$\((curl|wget)/.test(script.replace(/^#.*$/gm, "")),
    false,
  );
});
