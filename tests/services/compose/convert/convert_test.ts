import { deepEqual, equal, rejects } from "node:assert/strict";
import { parse } from "yaml";
import { convertCommand } from "../../../../services/compose/convert/convert.ts";
import { OPTIONS } from "../../../../services/compose/convert/options.ts";
import { directLoader } from "../../../helpers/direct_loader.ts";
import { testConfig } from "../../../helpers/test_app.ts";

const DEPS = { composeLoader: directLoader, config: testConfig() };
const CALLER = { userId: "ann", familyId: "f" };

const convert = (command: string) => convertCommand(DEPS, CALLER, command);

/** The file of a command whose words follow `docker run`. */
const fileOf = async (words: string) => parse((await convert(`docker run ${words}`)).compose);

/** The service of a command for the image `x`, without the image. */
async function serviceOf(options: string): Promise<Record<string, unknown>> {
  const { image, ...service } = (await fileOf(`${options} x`)).services.x;
  equal(image, "x");
  return service;
}

Deno.test("a command of several lines becomes a stack with its names", async () => {
  const { compose, warnings } = await convert(`$ sudo docker run -d --restart=unless-stopped \\
    --name uptime-kuma \\\r
    -p 3001:3001 -v kuma:/app/data -v "$PWD/my conf":/conf:ro \\
    -e TZ=Europe/Berlin -e 'PASS=a$b "c"' -e NAME="$HOST x" --network proxy \\
    louislam/uptime-kuma:1 --flag 'two words'`);

  deepEqual(parse(compose), {
    services: {
      "uptime-kuma": {
        image: "louislam/uptime-kuma:1",
        restart: "unless-stopped",
        container_name: "uptime-kuma",
        ports: ["3001:3001"],
        volumes: ["kuma:/app/data", "./my conf:/conf:ro"],
        environment: { TZ: "Europe/Berlin", PASS: 'a$$b "c"', NAME: "$HOST x" },
        networks: ["proxy"],
        command: ["--flag", "two words"],
      },
    },
    networks: { proxy: { external: true } },
    volumes: { kuma: { name: "kuma" } },
  });
  deepEqual(warnings, []);
});

const CASES: [options: string, service: Record<string, unknown>][] = [
  ["-it", { stdin_open: true, tty: true }],
  ["-itp80:80", { stdin_open: true, tty: true, ports: ["80:80"] }],
  ["-p=80:80 -p 53:53/udp", { ports: ["80:80", "53:53/udp"] }],
  ["--init=false --read-only", { init: false, read_only: true }],
  ["-e A", { environment: { A: null } }],
  ["-e A=1 --env B=x=y", { environment: { A: "1", B: "x=y" } }],
  ["-l a=b --label c", { labels: { a: "b", c: "" } }],
  ["--cpus 1.5 -m 512m --memory-swap -1", {
    cpus: 1.5,
    mem_limit: "512m",
    memswap_limit: "-1",
  }],
  ["--network host", { network_mode: "host" }],
  ["--net container:db", { network_mode: "container:db" }],
  ["--network a --ip 10.0.0.2 --network-alias b", {
    networks: { a: { ipv4_address: "10.0.0.2", aliases: ["b"] } },
  }],
  ["--network name=a,alias=b", { networks: { a: { aliases: ["b"] } } }],
  ["--health-cmd 'curl -f localhost' --health-interval 10s --health-retries 3", {
    healthcheck: { test: ["CMD-SHELL", "curl -f localhost"], interval: "10s", retries: 3 },
  }],
  ["--no-healthcheck", { healthcheck: { disable: true } }],
  ["--log-driver local --log-opt max-size=10m", {
    logging: { driver: "local", options: { "max-size": "10m" } },
  }],
  ["--mount type=bind,src=/etc,dst=/conf,readonly", {
    volumes: [{ type: "bind", source: "/etc", target: "/conf", read_only: true }],
  }],
  ["--privileged=False --read-only=0 --init=f -t=false --oom-kill-disable=F", {
    privileged: false,
    read_only: false,
    init: false,
    tty: false,
    oom_kill_disable: false,
  }],
  ["--privileged=T --read-only=1 -it=TRUE --detach=True", {
    privileged: true,
    read_only: true,
    stdin_open: true,
    tty: true,
  }],
  ["--no-healthcheck=0", { healthcheck: { disable: false } }],
  ...["readonly=1", "readonly=True", "ro=T", "readonly=false,ro"].map((
    key,
  ): [string, Record<string, unknown>] => [`--mount type=bind,src=/etc,dst=/conf,${key}`, {
    volumes: [{ type: "bind", source: "/etc", target: "/conf", read_only: true }],
  }]),
  ["--mount type=bind,src=/etc,dst=/conf,ro=0", {
    volumes: [{ type: "bind", source: "/etc", target: "/conf" }],
  }],
  ["--ulimit nofile=1024:2048 --ulimit nproc=64", {
    ulimits: { nofile: { soft: 1024, hard: 2048 }, nproc: 64 },
  }],
  ["--gpus all", { gpus: "all" }],
  ["--stop-timeout 20", { stop_grace_period: "20s" }],
  ["--entrypoint sh", { entrypoint: ["sh"] }],
  ["--device-read-bps /dev/sda:1mb", {
    blkio_config: { device_read_bps: [{ path: "/dev/sda", rate: "1mb" }] },
  }],
  ["--volumes-from db", { volumes_from: ["container:db"] }],
  ["-v ${PWD}:/src -v $(pwd)/a:/a", { volumes: [".:/src", "./a:/a"] }],
  ["--sysctl net.core.somaxconn=1024 --security-opt no-new-privileges", {
    sysctls: { "net.core.somaxconn": "1024" },
    security_opt: ["no-new-privileges"],
  }],
];

for (const [options, service] of CASES) {
  Deno.test(`docker run ${options}`, async () => deepEqual(await serviceOf(options), service));
}

Deno.test("options that Compose cannot say are warnings by name", async () => {
  const { warnings } = await convert("podman run --rm --cpuset-mems 0 --pod new:p -P alpine");
  deepEqual(
    warnings,
    ["--rm", "--cpuset-mems", "--pod", "-P"].map((option) =>
      `${option} has no key in a Compose file and was left out`
    ),
  );
});

Deno.test("comments and empty lines are left out of the command", async () => {
  const words = async (command: string) =>
    parse((await convert(command)).compose).services.x.command;
  for (
    const [command, expected] of [
      ["\n # It's the first\n\ndocker run x a # b 'c\n# d\n \r\n", ["a"]],
      ["# docker run x a#b '#c' \"#d\" \\#e ''#f", ["a#b", "#c", "#d", "#e", "#f"]],
      ["docker run x 'a\n# b' \"c\\\nd\" e\\\n#f g\\ #h \\\n#i", ["a\n# b", "cd", "e#f", "g #h"]],
    ] as const
  ) deepEqual(await words(command), expected);
});

for (
  const [command, says] of [
    ["docker ps", "must begin with docker run or podman run"],
    ["docker run -d", "names no image"],
    ["docker run --nmae x y", "--nmae is not an option; did you mean --name?"],
    ["docker run x; rm -rf /", "has an unquoted ;"],
    ["docker pull x && docker run x", "has an unquoted &"],
    ["docker run -e A=$(cat /etc/passwd) x", "has $(...)"],
    ["docker run -e 'A x", "has an opening ' without its end"],
    ["docker run -p", "-p needs a value"],
    ["docker run --cpus many x", "--cpus must be a number"],
    ["docker run -p abc x", "services.x.ports[0]"],
    ["docker run --mount type=bind,foo=1 x", "--mount has foo"],
    ["docker run --mount type=bind,src,dst=/x x", "--mount has src without a value"],
    ["docker run --mount type=bind,src=/,dst=/x,ro=yes x", "--mount must be true or false"],
    ["docker run --privileged=no x", "--privileged must be true or false"],
    ["docker run --rm= x", "--rm must be true or false"],
    ["docker run -t=2 x", "-t must be true or false"],
    ["docker run --sig-proxy=FaLsE x", "--sig-proxy must be true or false"],
    ["docker run x\ndocker run y", "has a second line"],
    ["docker run x\r\n\r\n-p 80:80", "has a second line"],
    ["docker run \\ \n x", "has a second line"],
    ["docker run \\\n# ports\n-p 80:80 x", "has a second line"],
  ] as const
) {
  Deno.test(`refused: ${command}`, () =>
    rejects(convert(command), ({ code, message }: { code: string; message: string }) => {
      equal(code, "invalid");
      equal(message.startsWith(`body.command: ${says}`), true, message);
      return true;
    }));
}

Deno.test("every option with a key in Compose is accepted by the loader", async () => {
  const VALUES: Record<string, string> = {
    "add-host": "a:10.0.0.1",
    annotation: "a=b",
    "blkio-weight": "300",
    "blkio-weight-device": "/dev/sda:300",
    cgroupns: "host",
    "device-cgroup-rule": "'c 1:3 mr'",
    device: "/dev/null:/dev/x",
    "env-file": "a.env",
    gpus: "1",
    "health-interval": "1s",
    "health-start-interval": "1s",
    "health-start-period": "1s",
    "health-timeout": "1s",
    "health-retries": "1",
    ip: "10.0.0.2",
    ip6: "2001:db8::2",
    "link-local-ip": "169.254.8.8",
    ipc: "host",
    pid: "host",
    uts: "host",
    userns: "host",
    "mac-address": "02:42:ac:11:00:02",
    mount: "type=tmpfs,dst=/x",
    platform: "linux/amd64",
    publish: "80:80",
    pull: "always",
    restart: "always",
    sysctl: "a.b=1",
    "storage-opt": "size=1g",
    tmpfs: "/x",
    ulimit: "nofile=10",
    volume: "/x",
    workdir: "/x",
    "shm-size": "64m",
    memory: "64m",
    "memory-reservation": "64m",
    "memory-swap": "64m --memory 64m",
    "label-file": "a.labels",
    "stop-signal": "SIGINT",
    expose: "80",
    "security-opt": "no-new-privileges",
    "device-read-bps": "/dev/sda:1mb",
    "device-read-iops": "/dev/sda:100",
    "device-write-bps": "/dev/sda:1mb",
    "device-write-iops": "/dev/sda:100",
  };
  for (const [name, { add, isFlag }] of Object.entries(OPTIONS)) {
    if (!add) continue;
    const option = isFlag ? `--${name}` : `--${name} ${VALUES[name] ?? "10"}`;
    const needed = /^(ip6?|link-local-ip|network-alias)$/.test(name) ? "--network n " : "";
    const { warnings } = await convert(`docker run ${needed}${option} x`).catch((error) => {
      // The files that it names are not there.
      if (/a\.(env|labels)/.test(error.message)) return { warnings: [] };
      throw new Error(`${option}: ${error.message}`);
    });
    deepEqual(warnings, [], option);
  }
});
