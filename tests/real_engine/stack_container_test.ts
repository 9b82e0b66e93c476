import { deepEqual } from "node:assert/strict";
import { connectEngine } from "../../engine/client.ts";
import { containerCreate, containerInspect, containerRemove } from "../../engine/containers.ts";
import { imageInspect } from "../../engine/images.ts";
import { networkInspect, networkRemove } from "../../engine/networks.ts";
import { systemInfo } from "../../engine/system.ts";
import { findVolume, volumeRemove } from "../../engine/volumes.ts";
import { planServiceContainer } from "../../services/compose/deploy/container.ts";
import { createNetwork, createVolume } from "../../services/compose/deploy/parts.ts";
import { loadProject } from "../../services/compose/load/load.ts";
import { planProject } from "../../services/compose/plan/plan.ts";
import { BUSYBOX, engineTest } from "../helpers/real_engine.ts";

/** Every setting that a created container has, in the forms that engines change. */
const service = `
    image: ${BUSYBOX}
    command: sleep 1000
    entrypoint: []
    environment: {LEVEL: debug, EMPTY: "", INHERITED:}
    labels: {org.example.tier: front}
    container_name: NAME
    hostname: front
    domainname: example.org
    user: "1000:1000"
    working_dir: /tmp
    tty: true
    stdin_open: true
    init: true
    read_only: true
    restart: unless-stopped
    stop_signal: SIGINT
    stop_grace_period: 1m30s
    cap_add: [NET_ADMIN]
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    group_add: [audio, "1001"]
    cpu_shares: 512
    cpuset: "0"
    ipc: shareable
    pid: host
    healthcheck: {test: "true", interval: 1m30s, timeout: 5s, start_period: 10s, retries: 5}
    logging: {driver: json-file, options: {max-size: 1m, max-file: "3"}}
    devices: [/dev/null:/dev/nothing, {source: /dev/zero}]
    device_cgroup_rules: ["c 1:3 mr"]
    ulimits: {nproc: 512, nofile: {soft: 1000, hard: 2000}}
    shm_size: 32m
    sysctls: {net.core.somaxconn: 1024}
    tmpfs: ["/run:size=1m", /scratch]
    oom_score_adj: 100
    dns: [192.0.2.1]
    dns_opt: ["ndots:1"]
    dns_search: [example.org]
    extra_hosts: ["other:192.0.2.2"]
    expose: ["5432", "9000-9001/udp"]
    ports: ["127.0.0.1::80", "8081/udp", {target: 90, mode: host}]
    mac_address: 02:42:AC:11:65:43
    networks:
      back: {aliases: [store], ipv4_address: 10.198.7.9}
    volumes:
      - data:/data:ro
      - cache:/cache:nocopy
      - /anonymous
      - /tmp:/host:ro,rslave
      - {type: bind, source: /tmp, target: /other, bind: {propagation: rslave, recursive: disabled}}
      - {type: tmpfs, target: /memory, tmpfs: {size: 1m, mode: 0700}}
    deploy:
      resources: {limits: {cpus: "0.5", memory: 64m, pids: 50}, reservations: {memory: 32m}}`;

engineTest(
  "a plan has no change for the container that a deploy creates",
  async ({ socketPath }) => {
    using engine = connectEngine(socketPath);
    const name = `made${crypto.randomUUID().slice(0, 8)}`;
    const { project, errors } = await loadProject({
      name,
      compose: `services:\n  web:${service.replace("NAME", name)}
networks:
  back: {driver: bridge, internal: true, labels: {a: b}, ipam: {config: [{subnet: 10.198.7.0/24}]}}
volumes: {data: {labels: {a: b}}, cache: {}}`,
    });
    deepEqual(errors, []);
    const image = await imageInspect(engine, BUSYBOX);
    let id: string | undefined;
    try {
      await createNetwork({ engine }, project!, "back");
      for (const key of ["data", "cache"]) await createVolume({ engine }, project!, key);
      const { create } = planServiceContainer({
        project: project!,
        place: undefined,
        key: "web",
        number: 1,
        image: { id: image.Id, config: image.Config ?? {} },
        findPeer: () => {
          throw new Error("The service refers to no other one");
        },
        old: undefined,
        fileHashes: undefined,
        apiVersion: engine.apiVersion,
      });
      ({ id } = await containerCreate(engine, { name, body: create }));
      const info = await systemInfo(engine);

      const { changes, warnings } = planProject(project!, {
        containers: [await containerInspect(engine, id)],
        images: new Map([[image.Id, image.Config ?? {}]]),
        imageIds: new Map([[BUSYBOX, image.Id]]),
        networks: new Set([`${name}_back`]),
        volumes: new Set([`${name}_data`, `${name}_cache`]),
        networkDetails: new Map([[`${name}_back`, await networkInspect(engine, `${name}_back`)]]),
        volumeDetails: new Map([[`${name}_data`, (await findVolume(engine, `${name}_data`))!]]),
        defaults: { logDriver: info.LoggingDriver, runtime: info.DefaultRuntime },
      });

      deepEqual(warnings, []);
      deepEqual(
        changes.map(({ name, action, reasons }) => [name, action, ...reasons.map((r) => r.text)]),
        [
          ["back", "none"],
          ["data", "none"],
          ["cache", "none"],
          ["web", "start", "1 not running"],
        ],
      );
    } finally {
      if (id !== undefined) await containerRemove(engine, id, { force: true, volumes: true });
      for (const key of ["data", "cache"]) await volumeRemove(engine, `${name}_${key}`);
      await networkRemove(engine, await networkInspect(engine, `${name}_back`));
    }
  },
);
