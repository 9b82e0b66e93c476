/** Containers for tests: as records of the inventory, and simulated by a fake engine. @module */

import type { Container } from "../../services/containers/inventory.ts";
import type { FakeAnswer } from "./fake_engine.ts";
import type { TestApp } from "./test_app.ts";

/** A container of the inventory; defaults are those of a running container. */
export function containerOf(fields: Partial<Container> & { name: string }): Container {
  const labels = fields.labels ?? {};
  return {
    id: idOf(fields.name),
    originalName: fields.name,
    image: "app:1",
    imageId: `sha256:${"1".repeat(64)}`,
    state: "running",
    health: null,
    createdAt: "2026-01-01T00:00:00.000Z",
    startedAt: "2026-01-01T00:00:00.000Z",
    finishedAt: null,
    exitCode: null,
    restartCount: 0,
    ports: [],
    labels,
    composeProject: labels["com.docker.compose.project"] ?? null,
    composeService: labels["com.docker.compose.service"] ?? null,
    attachments: [],
    shares: [],
    links: [],
    volumes: [],
    self: false,
    warning: null,
    details: {
      command: [],
      entrypoint: [],
      workingDir: "",
      user: "",
      env: [],
      mounts: [],
      networkSettings: [],
      restartPolicy: { name: "", maximumRetryCount: 0 },
      stopSignal: "SIGTERM",
      limits: { memoryBytes: null, memorySwapBytes: null, cpus: null, pids: null },
      oomKilled: false,
      error: "",
      healthLog: [],
    },
    ...fields,
  };
}

/** Replaces the containers that the application knows, which are then served as current. */
export function setContainers(
  { deps: { inventory } }: { deps: Pick<TestApp["deps"], "inventory"> },
  ...containers: (Partial<Container> & { name: string })[]
): void {
  inventory.replaceAll(containers.map(containerOf), inventory.readNumber());
  inventory.setLive(true);
}

/** A full id that encodes the name. */
export function idOf(name: string): string {
  const hex = [...new TextEncoder().encode(name)].map((byte) => byte.toString(16)).join("");
  return hex.padEnd(64, "0").slice(0, 64);
}

/** Labels of a container of a compose project. */
export function composeLabels(
  project: string,
  service: string,
  { dependsOn, oneOff = false }: { dependsOn?: string; oneOff?: boolean } = {},
): Record<string, string> {
  return {
    "com.docker.compose.project": project,
    "com.docker.compose.service": service,
    "com.docker.compose.oneoff": oneOff ? "True" : "False",
    "com.docker.compose.project.working_dir": `/srv/${project}`,
    "com.docker.compose.project.config_files": `/srv/${project}/compose.yaml`,
    ...(dependsOn !== undefined && { "com.docker.compose.depends_on": dependsOn }),
  };
}

/** Labels of a container of a swarm stack. */
export function taskLabels(
  stack: string,
  service: string,
  { slot = "1", task = "t1" }: { slot?: string; task?: string } = {},
): Record<string, string> {
  return {
    "com.docker.stack.namespace": stack,
    "com.docker.swarm.service.name": `${stack}_${service}`,
    "com.docker.swarm.task.name": `${stack}_${service}.${slot}.${task}`,
  };
}

/** A container that the fake engine simulates. */
export interface SimulatedContainer {
  name: string;
  labels?: Record<string, string>;
  /** Default "running". */
  state?: Container["state"];
  health?: Container["health"];
  /** Outputs of the last health checks, oldest first. */
  healthOutputs?: string[];
  exitCode?: number;
  image?: string;
  imageId?: string;
  hostname?: string;
  /** Default "bridge". */
  networkMode?: string;
  /** Name of the restart policy; default: none is given. */
  restart?: string;
  /** Names. */
  volumes?: string[];
  /** Names only: a container that never ran has no network ids. */
  networks?: string[];
  /** RFC 3339; default: never finished. */
  finishedAt?: string;
  /** Configured stop timeout, in seconds. */
  stopTimeout?: number;
  sizeRw?: number;
  /** Called after a start, e.g. to make it fail. */
  onStart?: (container: SimulatedContainer) => void;
}

/**
 * Answers of an engine with these containers. Actions change them; so may the test, at any time.
 */
export function simulateContainers(containers: SimulatedContainer[]): Record<string, FakeAnswer> {
  const unknown = (ref: string) =>
    Response.json({ message: `No such container: ${ref}` }, { status: 404 });
  const find = (ref: string) =>
    containers.find(({ name }) => name === ref || idOf(name).startsWith(ref));
  const on =
    (act: (container: SimulatedContainer, query: URLSearchParams) => Response): FakeAnswer =>
    ({ parts, query }) => {
      const found = find(parts[0]!);
      return found ? act(found, query) : unknown(parts[0]!);
    };
  const empty = (status: number) => new Response(null, { status });
  const start = (container: SimulatedContainer) => {
    container.state = "running";
    container.onStart?.(container);
  };

  return {
    "GET /images/json": () => Response.json([]),
    "GET /volumes": () => Response.json({ Volumes: [] }),
    "GET /images/*/json": ({ parts: [id] }) => Response.json({ Id: id, Config: {} }),
    "GET /containers/json": () =>
      Response.json(
        containers.map(({ name, labels = {}, imageId }) => ({
          Id: idOf(name),
          Names: [`/${name}`],
          Labels: labels,
          ImageID: imageId,
        })),
      ),
    "GET /containers/*/logs": on(() => new Response()),
    "GET /containers/*/json": on((container) => Response.json(inspectOf(container))),
    "POST /containers/*/start": on((container) => {
      if ((container.state ?? "running") === "running") return empty(304);
      start(container);
      return empty(204);
    }),
    "POST /containers/*/stop": on((container) => {
      if ((container.state ?? "running") !== "running") return empty(304);
      container.state = "exited";
      return empty(204);
    }),
    "POST /containers/*/restart": on((container) => {
      start(container);
      return empty(204);
    }),
    "DELETE /containers/*": on((container) => {
      if ((container.state ?? "running") === "running") {
        return Response.json({ message: "You cannot remove a running container" }, { status: 409 });
      }
      containers.splice(containers.indexOf(container), 1);
      return empty(204);
    }),
  };
}

function inspectOf(container: SimulatedContainer) {
  const { name, labels = {}, state = "running", health, exitCode = 0 } = container;
  const healthLog = (container.healthOutputs ?? []).map((Output) => ({
    Start: "2026-01-01T00:00:00Z",
    End: "2026-01-01T00:00:01Z",
    ExitCode: 1,
    Output,
  }));
  const { image = "app:1", imageId = `sha256:${"1".repeat(64)}`, hostname = "" } = container;
  return {
    Id: idOf(name),
    Name: `/${name}`,
    Created: "2026-01-01T00:00:00Z",
    Path: "sh",
    Args: [],
    Image: imageId,
    RestartCount: 0,
    State: {
      Status: state,
      Running: state === "running",
      ExitCode: exitCode,
      StartedAt: "2026-01-01T00:00:00Z",
      FinishedAt: container.finishedAt ?? "0001-01-01T00:00:00Z",
      ...(health && { Health: { Status: health, FailingStreak: 0, Log: healthLog } }),
    },
    Config: {
      Hostname: hostname,
      Image: image,
      Labels: labels,
      ...(container.stopTimeout !== undefined && { StopTimeout: container.stopTimeout }),
    },
    HostConfig: {
      NetworkMode: container.networkMode ?? "bridge",
      RestartPolicy: { Name: container.restart ?? "" },
    },
    NetworkSettings: {
      Networks: Object.fromEntries((container.networks ?? []).map((network) => [network, {}])),
    },
    Mounts: (container.volumes ?? []).map((volume) => ({
      Type: "volume",
      Name: volume,
      Destination: `/${volume}`,
    })),
    ...(container.sizeRw !== undefined && { SizeRw: container.sizeRw }),
  };
}
