/** The application on a fake engine whose containers have logs. @module */

import type { Container } from "../../services/containers/inventory.ts";
import { setContainers } from "./fake_containers.ts";
import { fakeEngine } from "./fake_engine.ts";
import { type FakeLog, fakeLog } from "./fake_log.ts";
import { type TestApp, testApp } from "./test_app.ts";

export interface LogApp extends TestApp, AsyncDisposable {
  logs: Record<string, FakeLog>;
  requests: string[];
  /** Changes the containers of the engine and of the inventory. */
  contain(...containers: Container[]): void;
}

/** A fake engine whose containers have logs. */
export function logEngine() {
  const logs: Record<string, FakeLog> = {};
  let current: Container[] = [];
  const find = (ref: string) => current.find(({ id, name }) => id === ref || name === ref);
  const missing = () => Response.json({ message: "No such container" }, { status: 404 });
  const fake = fakeEngine({
    "GET /containers/*/json": ({ parts: [ref] }) => {
      const container = find(ref!);
      if (!container) return missing();
      const { id, name, state, startedAt, finishedAt } = container;
      return Response.json({
        Id: id,
        Name: `/${name}`,
        Image: "sha256:1",
        Created: "2026-01-01T00:00:00Z",
        Config: { Labels: {} },
        HostConfig: {},
        NetworkSettings: { Networks: {} },
        Mounts: [],
        State: {
          Status: state,
          Running: state === "running",
          StartedAt: startedAt,
          FinishedAt: finishedAt ?? "0001-01-01T00:00:00Z",
        },
      });
    },
    "GET /containers/*/logs": (request) => {
      const container = find(request.parts[0]!);
      return container ? logs[container.name]!.answer(request) : missing();
    },
  });
  const contain = (app: TestApp, ...next: Container[]) => {
    current = next;
    for (const { name } of next) logs[name] ??= fakeLog();
    setContainers(app, ...next);
  };
  return { fake, logs, contain };
}

/** An application on an engine with these containers, each with a log. */
export function logApp(...containers: Container[]): LogApp {
  const { fake, logs, contain: containAt } = logEngine();
  const app = testApp({ engine: fake.engine });
  const contain = (...next: Container[]) => containAt(app, ...next);
  contain(...containers);
  return {
    ...app,
    logs,
    requests: fake.requests,
    contain,
    async [Symbol.asyncDispose]() {
      app.deps.logStreams.close();
      app[Symbol.dispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
}
