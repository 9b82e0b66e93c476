/**
 * Compose projects that are made to take time or memory, with texts of 512 KiB: half of what is taken.
 * Work that grows with the square of that never ends, either.
 *
 * @module
 */

export interface HostileProject {
  compose: string;
  env?: string;
  files?: Record<string, string>;
}

const LONG = 512 * 1024 - 200;
const WEB = "services:\n  web:\n    image: nginx\n";

const fill = (unit: string, length = LONG) => unit.repeat(Math.floor(length / unit.length));
const numbered = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join("");
const key = (name: string, value: string) => `${WEB}    ${name}: "${value}"\n`;
const chain = (count: number) =>
  `X0=${fill("ab", 200)}\n` +
  numbered(count, (index) => `X${index + 1}=$X${index}$X${index}\n`);

/** Projects by what they are made of. */
export const HOSTILE_PROJECTS: Readonly<Record<string, HostileProject>> = {
  // Scalars.
  "digits": { compose: key("cpus", fill("1") + "x") },
  "digits of a plain number": { compose: `${WEB}    cpus: ${fill("1")}\n` },
  "digits of a fraction": { compose: key("cpus", `1.${fill("1")}x`) },
  "octal digits": { compose: `${WEB}    cpus: 0${fill("7")}\n` },
  "underscores of a number": { compose: `${WEB}    cpus: 1${fill("_")}\n` },
  "slashes": { compose: key("working_dir", fill("/") + "x") },
  "slashes of a mount": { compose: `${WEB}    volumes: ["/a${fill("/")}x:/b"]\n` },
  "slashes of an env file": { compose: key("env_file", fill("/") + "x") },
  "colons of a mount": { compose: `${WEB}    volumes: ["${fill(":")}"]\n` },
  "letters of a mount": { compose: `${WEB}    volumes: ["${fill("a")}:/b"]\n` },
  "duration": { compose: key("stop_grace_period", fill("1s") + "x") },
  "digits of a duration": { compose: key("stop_grace_period", fill("1") + "x") },
  "size": { compose: key("mem_limit", fill("1") + "x") },
  "digits of a port": { compose: `${WEB}    ports: ["${fill("1")}x"]\n` },
  "spaces of a command": { compose: key("command", fill(" ")) },
  "quotes of a command": { compose: key("command", fill("' '") + "'") },
  "pull policy": { compose: key("pull_policy", `every_${fill("1d")}x`) },
  "host": { compose: `${WEB}    extra_hosts: ["${fill("a")}"]\n` },
  "device": { compose: `${WEB}    devices: ["${fill("a/")}"]\n` },
  "mount options": {
    compose: `${WEB}volumes:\n  d:\n    driver_opts: {type: none, o: "${
      fill("=/a")
    }", device: /d}\n`,
  },
  "file mode": {
    compose: `${WEB}    secrets: [{source: a, mode: "${fill("0")}8"}]\n`,
  },
  "spaces between words": { compose: `${WEB}    command: a${fill(" ")}b\n` },
  "spaces before a comment": { compose: `${WEB}    command: a${fill(" ")}#\n` },
  "folded lines": { compose: `${WEB}    command: "a${fill(" \n ")}b"\n` },
  "backslashes": { compose: key("command", fill("\\\\")) },
  "block": { compose: `${WEB}    command: |+\n${fill("\n")}      a\n` },
  "block of spaces": { compose: `${WEB}    command: >\n      a\n${fill("      \n")}      b\n` },
  // Names.
  "name of a service": { compose: `services: {${fill("a")}: {image: nginx}}` },
  "names of services": {
    compose: `services:\n${numbered(60, (i) => `  ${fill("a", 8_200)}${i + 10}: {image: n}\n`)}`,
  },
  "names of networks": {
    compose: `${WEB}networks:\n${numbered(60, (i) => `  ${fill("a", 8_500)}${i + 10}: {}\n`)}`,
  },
  "names of volumes": {
    compose: `${WEB}volumes:\n${numbered(500, (i) => `  ${fill("a", 1_900)}${i + 100}: {}\n`)}`,
  },
  "names of variables": {
    compose: `${WEB}    environment:\n${
      numbered(60, (i) => `      - ${fill("a", 8_500)}${i + 10}=1\n`)
    }`,
  },
  "numbers as names": {
    compose: `${WEB}    environment:\n${numbered(29_000, (i) => `      "${i * 331}": 1\n`)}`,
  },
  "name of an anchor": { compose: `${WEB}    command: &${fill("a", LONG / 2)} x\n` },
  "unknown keys": { compose: `${WEB}${numbered(20_000, (i) => `    imagf${i}: 1\n`)}` },
  // Structure.
  "brackets": { compose: `x-a: ${fill("[")}` },
  "braces": { compose: `x-a: ${fill("{a: ")}` },
  "dashes": { compose: `x-a:\n  ${fill("- ")}` },
  "commas": { compose: `x-a: [${fill(",")}]` },
  "question marks": { compose: `${fill("? ")}` },
  "comments": { compose: `${WEB}${fill("#\n")}` },
  "blank lines": { compose: `${fill("\n")}${WEB}` },
  "documents": { compose: fill("---\n") },
  "directives": { compose: `${fill("%A B\n")}---\n${WEB}` },
  "deep and long names": {
    compose: `x-a:\n${numbered(90, (i) => `${fill(" ", i + 1)}${fill("k", 250)}:\n`)}${
      fill(" ", 92)
    }- [${fill("a,", 50_000)}]\n`,
  },
  "aliases of maps": {
    compose: `x-0: &a0 {a: 1}\n${
      numbered(30, (i) => `x-${i + 1}: &a${i + 1} [*a${i}, *a${i}]\n`)
    }${WEB}`,
  },
  "aliases of a long string": {
    compose: `x-0: &a "${fill("a", 450_000)}"\n${WEB}    environment:\n${
      numbered(900, (i) => `      V${i}: *a\n`)
    }`,
  },
  "merge keys": {
    compose: `x-0: &a {${numbered(5_000, (i) => `k${i}: 1, `)}}\n${
      numbered(900, (i) => `x-${i}b: {<<: *a}\n`)
    }${WEB}`,
  },
  // Texts that multiply.
  "ports": { compose: `${WEB}    ports: [${fill('"1-65535",', 9_000)}]\n` },
  "exposed ports": {
    compose: `${WEB}    expose: [${numbered(900, (i) => `"1-6${i % 5}535/tcp",`)}]\n`,
  },
  "containers": {
    compose: `services:\n${numbered(400, (i) => `  s${i}: {image: nginx, scale: 1000}\n`)}`,
  },
  "limits": {
    compose: `${WEB}    ulimits:\n${numbered(20_000, (i) => `      l${i}: {soft: 1, hard: 2}\n`)}`,
  },
  "profiles": {
    compose: `services:\n${
      numbered(100, (i) =>
        `  s${i}: {image: n, profiles: [${
          numbered(250, (j) => `p${i}x${j},`)
        }]}\n`)
    }`,
    env: `COMPOSE_PROFILES=${numbered(100_000, (i) => `q${i},`)}`,
  },
  "extends": {
    compose: `services:\n  s0: {image: n, environment: [${numbered(15_000, (i) => `A${i}=1,`)}]}\n${
      numbered(400, (i) => `  s${i + 1}: {extends: s${i}}\n`)
    }`,
  },
  "includes": {
    compose: `include: [${fill("a.yaml, ", 30_000)}]\n${WEB}`,
    files: { "a.yaml": `${fill("#\n", 110_000)}services: {a: {image: n}}\n` },
  },
  "includes of includes": {
    compose: `include: [${fill("f0.yaml, ", 900)}]\n${WEB}`,
    files: Object.fromEntries(
      Array.from({ length: 8 }, (_, i) => [
        `f${i}.yaml`,
        i < 7 ? `include: [${fill(`f${i + 1}.yaml, `, 900)}]\n` : `services: {a: {image: n}}\n`,
      ]),
    ),
  },
  "dependencies": {
    compose: `services:\n${
      numbered(400, (i) =>
        `  s${i}: {image: n, depends_on: [${
          numbered(60, (j) => `s${(i + j + 1) % 400},`)
        }]}\n`)
    }`,
  },
  "long cycle": {
    compose: `services:\n${
      numbered(490, (i) => `  s${i}: {image: n, depends_on: [s${(i + 1) % 490}]}\n`)
    }`,
  },
  // Variables.
  "spaces before comments of .env": { compose: WEB, env: `A=${fill(" ")}x` },
  "tabs before comments of .env": { compose: WEB, env: `A=${fill("\t")}x` },
  "lines of .env": { compose: WEB, env: fill("A=1\n") },
  "comments of .env": { compose: WEB, env: fill("#\n") },
  "escapes of .env": { compose: WEB, env: `A="${fill("\\0")}"` },
  "open quotes of .env": { compose: WEB, env: fill("A='\n") },
  "long names of .env": {
    compose: WEB,
    env: numbered(60, (i) => `${fill("a", 8_500)}${i + 10}=1\n`),
  },
  "doubling variables": { compose: `${WEB}    command: $X40\n`, env: chain(40) },
  "doubling variables of a file": {
    compose: `${WEB}    env_file: a.env\n`,
    files: { "a.env": chain(40) },
  },
  "dollars": { compose: key("command", fill("$")) },
  "open variables": { compose: key("command", fill("${A:-")) },
  "nested variables": { compose: key("command", `${fill("${A:-", 90)}${fill("}", 18)}`) },
  "braces of variables": { compose: key("command", `\${A:-${fill("{")}`) },
  "names of missing variables": { compose: key("command", fill(`$${fill("a", 1_000)} `)) },
  "required variables": { compose: key("command", `\${A:?${fill("b", 450_000)}}`) },
  "raw variables": {
    compose: `${WEB}    env_file: [{path: a.env, format: raw}]\n`,
    files: { "a.env": fill("a\n") },
  },
  "one file for many services": {
    compose: `services:\n${numbered(400, (i) => `  s${i}: {image: n, env_file: a.env}\n`)}`,
    files: { "a.env": numbered(10_000, (i) => `A${i}=1\n`) },
  },
};
