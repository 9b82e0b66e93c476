/**
 * The image of the applications of the undo drill: a Debian with their packages, Node-RED and Verdaccio
 * from npm, and their scripts. The root file system is made once, in `dist/undo-drill`.
 *
 * @module
 */

import { run } from "../../deploy/release/programs.ts";
import type { RealEngine } from "../helpers/real_engine.ts";
import { APPLICATIONS, SHOP_PROGRAM } from "./applications.ts";

const IMAGE = "undo-drill/base:1";

const PACKAGES =
  "postgresql,mariadb-server,redis-server,nginx-light,prometheus,sqlite3,nodejs,procps";

/** Verdaccio depends on a tag of node-fetch that mirrors may not have. */
const NODE_PACKAGES = {
  private: true,
  dependencies: { "node-red": "4", verdaccio: "6" },
  overrides: { "node-fetch": "2.7.0" },
};

const DIRECTORY = new URL("../../dist/undo-drill", import.meta.url).pathname;

/** Names, modes, owners and content of all data, as one hash. */
const RUN = `
  digest() {
    cd /data
    { find . -printf '%p %y %m %U:%G %l\\n' | sort; find . -type f -print0 | sort -z |
      xargs -0 -r sha256sum; } | sha256sum | cut -c 1-64
  }
  echo "START $(digest)"
  if [ "$2" = bad ]; then
    sh -eu "/opt/drill/migrate-$1"
    echo "MIGRATED $(digest)"
    exit 3
  fi
  sh -eu "/opt/drill/start-$1" &
  pid=$!
  trap 'kill -TERM $pid' TERM
  while kill -0 $pid 2> /dev/null; do wait $pid; done
  echo "STOP $(digest)"`;

/** Repeats a request until it succeeds, and prints the response. */
const HTTP = `
  import { readFileSync } from "node:fs";
  const [method, url, file] = process.argv.slice(2);
  const body = file && readFileSync(file);
  const headers = body ? { "content-type": "application/json" } : {};
  for (let tries = 0;; tries++) {
    try {
      const response = await fetch(url, { method, headers, body });
      if (!response.ok) throw new Error(response.status + " " + await response.text());
      process.stdout.write(Buffer.from(await response.arrayBuffer()));
      break;
    } catch (error) {
      if (tries === 300) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }`;

/** Imports the image into an engine. */
export async function importBase(engine: RealEngine): Promise<void> {
  await makeRoot();
  const files = `${DIRECTORY}/opt/drill`;
  await Deno.mkdir(files, { recursive: true });
  await Deno.writeTextFile(`${files}/run`, RUN);
  await Deno.writeTextFile(`${files}/http.mjs`, HTTP);
  await Deno.writeTextFile(`${files}/shop.js`, SHOP_PROGRAM);
  for (const application of APPLICATIONS) {
    for (const part of ["start", "seed", "dump", "migrate"] as const) {
      await Deno.writeTextFile(`${files}/${part}-${keyOf(application.name)}`, application[part]);
    }
  }
  const script = 'tar -C "$1" --exclude=./var/cache/apt/archives -c . | docker import - "$2"';
  const { success, stderr } = await new Deno.Command("sh", {
    args: ["-euc", script, "sh", DIRECTORY, IMAGE],
    env: { DOCKER_HOST: `unix://${engine.socketPath}`, DOCKER_CONFIG: "/nonexistent" },
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

async function makeRoot(): Promise<void> {
  const exists = (path: string) => Deno.stat(path).then(() => true, () => false);
  if (!await exists(`${DIRECTORY}/etc/debian_version`)) {
    console.log(`Making a Debian in ${DIRECTORY}`);
    const options = ["--variant=minbase", `--include=${PACKAGES}`, "bookworm"];
    await run("debootstrap", [...options, DIRECTORY]);
  }
  const node = `${DIRECTORY}/opt/node`;
  if (await exists(`${node}/node_modules/verdaccio`)) return;
  await Deno.mkdir(node, { recursive: true });
  await Deno.writeTextFile(`${node}/package.json`, JSON.stringify(NODE_PACKAGES));
  await run("npm", ["install", "--prefix", node, "--no-audit", "--no-fund"]);
}

/** Name of an application in those of images and files. */
export const keyOf = (name: string): string => name.replaceAll(/[^A-Za-z-]/g, "");

/** Lets the reference of an application name one of its versions. */
export async function publish(
  engine: RealEngine,
  name: string,
  version: "old" | "bad",
): Promise<string> {
  const key = keyOf(name);
  const image = `undo-drill/${key.toLowerCase()}:1`;
  const base = await engine.docker("create", IMAGE, "true");
  const command = JSON.stringify(["sh", "/opt/drill/run", key, version]);
  await engine.docker("commit", `--change=CMD ${command}`, base, image);
  await engine.docker("rm", base);
  return image;
}
