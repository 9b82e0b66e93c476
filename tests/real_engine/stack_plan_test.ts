import { deepEqual, equal } from "node:assert/strict";
import { composeCommand } from "../helpers/docker_compose.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest } from "../helpers/real_engine.ts";
import { missingProgram } from "../helpers/sandbox.ts";

/** A project with everything that the plan compares. */
const compose = (project: string) => ({
  services: {
    db: {
      image: BUSYBOX,
      command: "sleep 1000",
      volumes: ["data:/data", "/anonymous", "/tmp:/host:ro"],
      networks: { back: { aliases: ["database"] } },
      restart: "on-failure:3",
      stop_grace_period: "1s",
      stop_signal: "SIGKILL",
      user: "1000:1000",
      read_only: true,
      mem_limit: "64m",
      cap_drop: ["ALL"],
      sysctls: { "net.core.somaxconn": 1024 },
      container_name: `${project}-database`,
      healthcheck: { test: "true", interval: "1m30s", retries: 5 },
      ulimits: { nofile: { soft: 1000, hard: 2000 }, nproc: 512 },
      logging: { driver: "json-file", options: { "max-size": "1m" } },
      devices: ["/dev/null:/dev/nothing"],
      shm_size: "32m",
      tmpfs: ["/run:size=1m"],
      mem_reservation: "32m",
      cpu_shares: 512,
      oom_score_adj: 100,
      pids_limit: 100,
      expose: ["5432"],
      dns_search: ["example.org"],
      ipc: "shareable",
    },
    web: {
      image: BUSYBOX,
      entrypoint: ["sleep"],
      command: ["1000"],
      depends_on: ["db"],
      environment: { LOG_LEVEL: "info", EMPTY: "" },
      labels: { "org.example.tier": "front" },
      ports: ["127.0.0.1::80", "8081/udp"],
      networks: { back: {}, front: { aliases: ["www"] } },
      links: ["db:store"],
      working_dir: "/tmp",
      stop_grace_period: "1s",
      stop_signal: "SIGKILL",
      init: true,
      extra_hosts: ["other:192.0.2.1"],
      hostname: "web",
    },
    sidecar: {
      image: BUSYBOX,
      command: "sleep 1000",
      network_mode: "service:web",
      stop_grace_period: "1s",
      stop_signal: "SIGKILL",
      cap_add: ["NET_ADMIN"],
      ipc: "service:db",
      volumes_from: ["db:ro"],
    },
  },
  networks: { back: {}, front: { name: `${project}-front` } },
  volumes: { data: {} },
});

if (!missingProgram("docker-compose")) {
  long(engineTest)(
    "a plan has no change for what docker-compose deployed, and says what differs",
    async (engine) => {
      const project = `plan${crypto.randomUUID().slice(0, 8)}`;
      const directory = await Deno.makeTempDir({ prefix: "longshore-test-" });
      const run = composeCommand(engine, project, directory);
      const source = compose(project);
      await Deno.writeTextFile(
        `${directory}/docker-compose.yml`,
        JSON.stringify({ version: "2.4", ...source }),
      );
      try {
        await using app = await liveApp(engine.socketPath);
        const path = `/api/stacks/${project}`;
        await app.call("POST", "/api/stacks", {
          name: project,
          compose: JSON.stringify(source),
          deploy: false,
        });
        const plan = async () => {
          const { status, body } = await app.call("POST", `${path}/plan`);
          equal(status, 200, JSON.stringify(body));
          return body;
        };
        const actions = ({ changes }: Awaited<ReturnType<typeof plan>>) =>
          changes.map(({ kind, name, action }: Record<string, string>) =>
            `${kind} ${name} ${action}`
          );

        deepEqual(actions(await plan()), [
          "network back create",
          "network front create",
          "volume data create",
          "service db create",
          "service web create",
          "service sidecar create",
        ]);

        await run("up", "--detach");
        const same = await plan();
        deepEqual(same.changes.flatMap(({ reasons }: typeof same) => reasons), []);
        deepEqual(
          new Set(actions(same).map((text: string) => text.split(" ").at(-1))),
          new Set(["none"]),
        );
        deepEqual(same.warnings, []);

        await run("stop", "sidecar");
        const { web, db, sidecar } = source.services;
        const changed = {
          ...source,
          services: {
            web: {
              ...web,
              environment: { LOG_LEVEL: "debug", NEW: "1" },
              ports: ["127.0.0.1::80"],
              command: ["2000"],
              networks: { back: { aliases: ["www"] } },
              scale: 2,
            },
            db: {
              ...db,
              volumes: ["data:/data:ro", "/tmp:/host:ro"],
              mem_limit: "128m",
              container_name: `${project}-store`,
              healthcheck: { test: "true" },
              ulimits: { nproc: 256 },
            },
            sidecar,
          },
        };
        await app.call("PUT", `${path}/source`, {
          compose: JSON.stringify(changed),
          expectedVersion: 1,
        });
        const { changes } = await plan();
        const texts = Object.fromEntries(
          changes.map(({ name, action, reasons }: typeof changes) => [
            name,
            [action, ...reasons.map(({ text }: Record<string, string>) => text)],
          ]),
        );
        deepEqual(texts.web, [
          "recreate",
          'command changed from ["1000"] to ["2000"]',
          "environment: EMPTY removed",
          "environment: LOG_LEVEL changed",
          "environment: NEW added",
          `networks: ${project}-front removed`,
          `networks: ${project}_back changed`,
          "ports: 8081/udp removed",
          "scale changed from 1 to 2",
        ]);
        deepEqual(texts.db, [
          "recreate",
          `container_name changed from ${project}-database to ${project}-store`,
          "healthcheck: interval removed",
          "healthcheck: retries removed",
          "mem_limit changed from 67108864 to 134217728",
          "ulimits: nofile removed",
          "ulimits: nproc changed",
          "volumes: /anonymous removed",
          "volumes: /data changed",
        ]);
        deepEqual(texts.sidecar, [
          "recreate",
          "1 not running",
          "shares a namespace or volumes of db, which is recreated",
        ]);
      } finally {
        await run("down", "--volumes", "--timeout", "0");
        await Deno.remove(directory, { recursive: true });
      }
    },
  );
}
