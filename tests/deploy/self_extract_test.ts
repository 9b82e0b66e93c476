/** The self-extracting file, with a small script instead of the real runtime. @module */

import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { dirname } from "node:path";
import { archive } from "../../deploy/build/archive.ts";

/** Answers as the runtime would: `--version`, and `run FLAGS PROGRAM ARGUMENTS`. */
const RUNTIME = `#!/bin/sh
[ "$1" = --version ] && exit 0
while [ "\${1##*.js}" != "" ]; do flags="\${flags:-} $1"; shift; done
program=$1
shift
case \${1:-} in
  exit) exit "$2" ;;
  wait) trap 'exit 42' TERM; echo "$$"; while :; do sleep 0.05; done ;;
  umask) umask; exit ;;
esac
printf '%s\\n' "$flags" "$DENO_DIR" "$(cat "$program")" "$@"
`;

const PROGRAM = 'console.log("program");';

/** Another file of the program. */
const CHUNK = "export {};";

Deno.test("a start unpacks once and hands over flags and arguments as they are", async () => {
  await using packed = await pack();

  const first = await packed.run({ args: ["a  b", "", "*", "--help", "it's", "$HOME"] });
  const before = await packed.listing("home/.cache/longshore");
  const second = await packed.run({ args: ["again"] });

  equal(first.code, 0);
  deepEqual(first.lines, [
    " run --flag --allow-sys=a,b",
    `${packed.directory}/home/.cache/longshore/${before[1]!.replace("longshore", "cache")}`,
    PROGRAM,
    "a  b",
    "",
    "*",
    "--help",
    "it's",
    "$HOME",
  ]);
  equal(first.stderr, "");
  equal(second.lines.at(-1), "again");
  deepEqual(await packed.listing("home/.cache/longshore"), before);
  equal(before.length, 2);
});

Deno.test("the exit status and the caller's umask pass through", async () => {
  await using packed = await pack();

  equal((await packed.run({ args: ["exit", "7"] })).code, 7);
  deepEqual((await packed.run({ args: ["umask"] })).lines, ["0022"]);
});

Deno.test("a signal reaches the program itself, there is no shell between", async () => {
  await using packed = await pack();
  const child = packed.command({ args: ["wait"] }).spawn();
  const reader = child.stdout.getReader();

  const { value } = await reader.read();
  child.kill("SIGTERM");

  equal((await child.status).code, 42);
  equal(Number(new TextDecoder().decode(value)), child.pid);
  await reader.cancel();
  await child.stderr.cancel();
});

Deno.test("the directories are taken in their order", async () => {
  await using packed = await pack();
  const at = (name: string) => `${packed.directory}/${name}`;
  const directoryOf = async (start: Start) => dirname((await packed.run(start)).lines[1]!);
  const env: Record<string, string> = {
    LONGSHORE_RUNTIME_DIR: at("chosen"),
    CACHE_DIRECTORY: `${at("systemd")}:${at("other")}`,
    XDG_CACHE_HOME: at("xdg"),
    HOME: at("home"),
    DATA_DIR: at("data"),
  };
  for (
    const [variable, expected] of [
      ["LONGSHORE_RUNTIME_DIR", "chosen"],
      ["CACHE_DIRECTORY", "systemd/runtime"],
      ["XDG_CACHE_HOME", "xdg/longshore"],
      ["HOME", "home/.cache/longshore"],
      ["DATA_DIR", "data/runtime"],
    ] as const
  ) {
    equal(await directoryOf({ env }), at(expected));
    env[variable] = "";
  }
  equal(await directoryOf({ env }), `${packed.directory}/cwd/data/runtime`);
});

Deno.test("a directory where others can write is named and not used", async () => {
  await using packed = await pack();
  const open = `${packed.directory}/open`;
  await Deno.mkdir(`${open}/below`, { recursive: true });
  await Deno.chmod(open, 0o777);

  for (const chosen of [open, `${open}/below`]) {
    const { code, stderr, lines } = await packed.run({ env: { LONGSHORE_RUNTIME_DIR: chosen } });

    equal(code, 0);
    equal(
      stderr,
      `longshore: does not keep its runtime in ${chosen}: other users can write there or above it.\n`,
    );
    equal(dirname(lines[1]!), `${packed.directory}/home/.cache/longshore`);
  }
  deepEqual(await packed.listing("open/below"), []);
});

Deno.test("a shared directory with the sticky bit may lie above, but is not used itself", async () => {
  await using packed = await pack();
  const shared = `${packed.directory}/shared`;
  await Deno.mkdir(shared);
  await Deno.chmod(shared, 0o1777);

  const itself = await packed.run({ env: { LONGSHORE_RUNTIME_DIR: shared } });
  const below = await packed.run({ env: { LONGSHORE_RUNTIME_DIR: `${shared}/mine` } });

  match(itself.stderr, /other users can write there/);
  equal(below.stderr, "");
  equal((await Deno.stat(`${shared}/mine`)).mode! & 0o777, 0o700);
});

Deno.test("a planted link, a writable file and a file of another size are replaced", async () => {
  await using packed = await pack();
  await packed.run({});
  const home = "home/.cache/longshore";
  const [runtime] = (await packed.listing(home)).map((name) =>
    `${packed.directory}/${home}/${name}`
  );
  const evil = `${packed.directory}/evil`;
  await Deno.writeTextFile(evil, "#!/bin/sh\necho evil\n", { mode: 0o755 });

  for (
    const plant of [
      () => Deno.symlink(evil, runtime!),
      () => Deno.writeTextFile(runtime!, "#!/bin/sh\necho evil\n", { mode: 0o755 }),
      async () => {
        await Deno.writeTextFile(runtime!, "#!/bin/sh\necho evil #".padEnd(RUNTIME.length));
        await Deno.chmod(runtime!, 0o777);
      },
    ]
  ) {
    await Deno.remove(runtime!);
    await plant();
    equal((await packed.run({ args: ["genuine"] })).lines.at(-1), "genuine");
  }
  equal(await Deno.readTextFile(evil), "#!/bin/sh\necho evil\n");
});

Deno.test("a program that is damaged, linked or writable by others is replaced", async () => {
  await using packed = await pack();
  await packed.run({});
  const home = `${packed.directory}/home/.cache/longshore`;
  const name = (await packed.listing("home/.cache/longshore")).find((n) => n.startsWith("long"));
  const program = `${home}/${name}`;
  const evil = `${packed.directory}/evil`;
  await Deno.mkdir(evil);
  await Deno.writeTextFile(`${evil}/main.js`, PROGRAM.replace("program", "evil   "));

  for (
    const spoil of [
      () => Deno.truncate(`${program}/main.js`, 5),
      () => Deno.remove(`${program}/chunk.js`),
      async () => {
        await Deno.remove(program, { recursive: true });
        await Deno.symlink(evil, program);
      },
      async () => {
        await Deno.copyFile(`${evil}/main.js`, `${program}/main.js`);
        await Deno.chmod(program, 0o777);
      },
    ]
  ) {
    await spoil();
    equal((await packed.run({})).lines[2], PROGRAM);
    equal(await Deno.readTextFile(`${program}/chunk.js`), CHUNK);
    equal((await Deno.stat(program)).mode! & 0o777, 0o700);
  }
  equal((await packed.listing("evil")).length, 1);
  equal((await packed.listing("home/.cache/longshore")).length, 2);
});

Deno.test("starts at the same time all succeed and leave nothing behind", async () => {
  await using packed = await pack();

  const all = await Promise.all(
    Array.from({ length: 12 }, (_, index) => packed.run({ args: [String(index)] })),
  );

  deepEqual(all.map(({ code }) => code), all.map(() => 0));
  deepEqual(all.map(({ lines }) => lines.at(-1)), all.map((_, index) => String(index)));
  const [, program] = await packed.listing("home/.cache/longshore");
  equal((await packed.listing("home/.cache/longshore")).length, 2);
  deepEqual(await packed.listing(`home/.cache/longshore/${program}`), ["chunk.js", "main.js"]);
});

Deno.test("a damaged download says so and runs nothing", async () => {
  await using packed = await pack();
  const whole = await Deno.readFile(packed.executable);
  await Deno.writeFile(packed.executable, whole.subarray(0, whole.length - 20));

  const { code, stderr, lines } = await packed.run({});

  equal(code, 1);
  match(stderr, /no space .* or .*longshore is damaged/);
  match(stderr, /Set LONGSHORE_RUNTIME_DIR/);
  deepEqual(lines, []);
  deepEqual((await packed.listing("home/.cache/longshore")).filter((n) => n.includes("part")), []);
});

Deno.test("a new version shares the directory and removes the former runtime", async () => {
  await using packed = await pack();
  await packed.run({});
  const former = await packed.listing("home/.cache/longshore");

  await packed.repack({ runtime: RUNTIME + "# newer\n", program: "newer" });
  equal((await packed.run({})).lines[2], "newer");

  const now = await packed.listing("home/.cache/longshore");
  notEqual(now[0], former[0]);
  deepEqual(now.map((name) => name.replace(/-.*/, "")), ["deno", "longshore", "longshore"]);
});

Deno.test("former programs are removed after a month unless they run, their caches at once, and nothing of others", async () => {
  await using packed = await pack();
  // The directory itself may have a name as that of a cache.
  const home = "cache-of-programs";
  const env = { LONGSHORE_RUNTIME_DIR: `${packed.directory}/${home}` };
  const running = packed.command({ args: ["wait"], env }).spawn();
  const lines = running.stdout.getReader();
  await lines.read();
  const [, ...first] = await packed.listing(home);
  const [a, b] = ["a".repeat(64), "b".repeat(64)];
  const gone = [`longshore-${a}`, `cache-${a}`, `cache-${b}`];
  const kept = [`longshore-${b}`, "longshore-backups", "longshore-1.2", "cache", "cache-of-others"];
  for (const name of [...gone, ...kept]) await Deno.mkdir(`${packed.directory}/${home}/${name}`);
  const monthAgo = new Date(Date.now() - 31 * 24 * 3_600_000);
  for (const name of [...first, ...gone, ...kept.slice(1)]) {
    await Deno.utime(`${packed.directory}/${home}/${name}`, monthAgo, monthAgo);
  }

  await packed.repack({ runtime: RUNTIME, program: "newer" });
  await packed.run({ env });

  const left = new Set(await packed.listing(home));
  deepEqual([...first, ...kept].filter((name) => !left.has(name)), []);
  deepEqual(gone.filter((name) => left.has(name)), []);
  running.kill("SIGTERM");
  await running.status;
  await lines.cancel();
  await running.stderr.cancel();
});

Deno.test("the same input is packed into the same bytes", async () => {
  await using packed = await pack();
  const first = await Deno.readFile(packed.executable);
  await packed.repack({ runtime: RUNTIME, program: PROGRAM });
  deepEqual(await Deno.readFile(packed.executable), first);
});

interface Start {
  args?: string[];
  env?: Record<string, string>;
}

/** The executable that most tests start with, packed once. */
let packedOnce: Uint8Array | undefined;

async function pack() {
  const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "longshore-pack-" }));
  const executable = `${directory}/longshore`;
  for (const name of ["home", "cwd"]) await Deno.mkdir(`${directory}/${name}`, { mode: 0o700 });

  const repack = async ({ runtime, program }: { runtime: string; program: string }) => {
    await Deno.writeTextFile(`${directory}/deno`, runtime);
    await Deno.mkdir(`${directory}/program`, { recursive: true });
    await Deno.writeTextFile(`${directory}/program/main.js`, program);
    await Deno.writeTextFile(`${directory}/program/chunk.js`, CHUNK);
    await Deno.writeFile(`${directory}/program.tar`, await archive(`${directory}/program`));
    const packer = new URL("../../deploy/build/pack.sh", import.meta.url).pathname;
    const { code, stderr } = await new Deno.Command("sh", {
      args: [
        packer,
        `${directory}/deno`,
        `${directory}/program.tar`,
        executable,
        "--flag",
        "--allow-sys=a,b",
      ],
    }).output();
    equal(code, 0, new TextDecoder().decode(stderr));
  };
  if (packedOnce) await Deno.writeFile(executable, packedOnce, { mode: 0o755 });
  else await repack({ runtime: RUNTIME, program: PROGRAM });
  packedOnce ??= await Deno.readFile(executable);

  const command = ({ args = [], env = { HOME: `${directory}/home` } }: Start) =>
    new Deno.Command("sh", {
      // The umask is set here so that the test does not depend on its own.
      args: ["-c", 'umask 022; exec "$0" "$@"', executable, ...args],
      cwd: `${directory}/cwd`,
      env: { PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin", HOME: `${directory}/home`, ...env },
      clearEnv: true,
      stdout: "piped",
      stderr: "piped",
    });

  return {
    directory,
    executable,
    repack,
    command,
    run: async (start: Start) => {
      const { code, stdout, stderr } = await command(start).output();
      const text = new TextDecoder().decode(stdout);
      return {
        code,
        lines: text === "" ? [] : text.replace(/\n$/, "").split("\n"),
        stderr: new TextDecoder().decode(stderr),
      };
    },
    /** Names in a directory below, sorted. */
    listing: async (name: string) => {
      const entries = await Array.fromAsync(Deno.readDir(`${directory}/${name}`));
      return entries.map((entry) => entry.name).sort();
    },
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}
