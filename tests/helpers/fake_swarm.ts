/** A manager of a swarm that carries changes out at once; tasks of images `bad:…` fail. @module */

import type { Service, ServiceSpec, Task } from "../../engine/swarm.ts";
import type { SwarmValue } from "../../engine/swarm_values.ts";
import type { FakeAnswer } from "./fake_engine.ts";

const AT = "2026-01-01T00:00:00Z";

/** The objects of the swarm; tests read and change them. */
export interface FakeSwarm {
  services: Service[];
  secrets: SwarmValue[];
  networks: { Id: string; Name: string; Labels: Record<string, string> }[];
  answers: Record<string, FakeAnswer>;
}

/** A service with the specification that Swarm has of it. */
export const serviceOf = (spec: ServiceSpec, fields: Partial<Service> = {}): Service => ({
  ID: `id-of-${spec.Name}`,
  Version: { Index: 1 },
  CreatedAt: AT,
  UpdatedAt: AT,
  Spec: spec,
  ...fields,
});

const imageOf = ({ TaskTemplate }: ServiceSpec) => TaskTemplate?.ContainerSpec?.Image ?? "";
const isBad = (spec: ServiceSpec) => imageOf(spec).startsWith("bad:");
const missing = () => Response.json({ message: "not found" }, { status: 404 });

export function fakeSwarm(services: Service[] = [], secrets: SwarmValue[] = []): FakeSwarm {
  let changes = 0;
  const failures = new Map<string, number>();
  const find = (id: string) => services.find(({ ID, Spec }) => ID === id || Spec.Name === id);
  const startedAt = () => new Date(Date.parse(AT) + ++changes * 1000).toISOString();

  /** Each look at a service that fails finds one more failed task. */
  const tasksOf = ({ ID, Spec }: Service): Task[] => {
    const task = (number: number, State: string, Err?: string): Task => ({
      ID: `${ID}.${number}`,
      ServiceID: ID,
      DesiredState: Err === undefined ? "running" : "shutdown",
      Status: { State, ...(Err !== undefined && { Err }) },
      CreatedAt: AT,
      UpdatedAt: AT,
      Spec: Spec.TaskTemplate ?? {},
    });
    if (!isBad(Spec)) {
      const count = Spec.Mode?.Replicated?.Replicas ?? 1;
      return Array.from({ length: count }, (_, slot) => task(slot, "running"));
    }
    const count = failures.get(ID) ?? 0;
    failures.set(ID, count + 1);
    return Array.from({ length: count }, (_, slot) => task(slot, "failed", "exit 1"));
  };

  const update: FakeAnswer = ({ parts: [id], query, body }) => {
    const service = find(id!);
    if (!service) return missing();
    if (Number(query.get("version")) !== service.Version.Index) {
      return Response.json({ message: "update out of sequence" }, { status: 500 });
    }
    service.Version.Index++;
    const { Spec, PreviousSpec } = service;
    if (query.get("rollback") === "previous") {
      if (!PreviousSpec) return Response.json({ message: "no previous spec" }, { status: 400 });
      Object.assign(service, { Spec: PreviousSpec, PreviousSpec: Spec });
      service.UpdateStatus = { State: "rollback_completed", StartedAt: startedAt() };
    } else if (isBad(body)) {
      service.PreviousSpec = null;
      service.UpdateStatus = { State: "rollback_completed", StartedAt: startedAt() };
    } else {
      Object.assign(service, { Spec: body, PreviousSpec: Spec });
      service.UpdateStatus = { State: "completed", StartedAt: startedAt() };
    }
    return Response.json({ Warnings: null });
  };

  const swarm: FakeSwarm = {
    services,
    secrets,
    networks: [],
    answers: {
      "GET /info": () =>
        Response.json({ Swarm: { LocalNodeState: "active", ControlAvailable: true } }),
      "GET /services": ({ query }) => {
        const { label = [] } = JSON.parse(query.get("filters") ?? "{}");
        const hasLabel = ({ Spec }: Service, [key = "", value]: string[]) =>
          value === undefined ? key in (Spec.Labels ?? {}) : Spec.Labels?.[key] === value;
        return Response.json(
          services.filter((service) =>
            label.every((text: string) => hasLabel(service, text.split("=")))
          ),
        );
      },
      "GET /services/*": ({ parts: [id] }) => {
        const service = find(id!);
        return service ? Response.json(service) : missing();
      },
      "POST /services/create": ({ body }) => {
        services.push(serviceOf(body));
        return Response.json({ ID: services.at(-1)!.ID });
      },
      "POST /services/*/update": update,
      "DELETE /services/*": ({ parts: [id] }) => {
        const service = find(id!);
        if (!service) return missing();
        services.splice(services.indexOf(service), 1);
        return new Response(null, { status: 200 });
      },
      "GET /tasks": ({ query }) => {
        const { service: only } = JSON.parse(query.get("filters") ?? "{}");
        return Response.json(
          services.filter(({ ID }) => !only || only.includes(ID)).flatMap(tasksOf),
        );
      },
      "GET /networks": () => Response.json(swarm.networks),
      "POST /networks/create": ({ body: { Name, Labels } }) => {
        if (swarm.networks.some((each) => each.Name === Name)) {
          return Response.json({ message: `${Name} already exists` }, { status: 409 });
        }
        swarm.networks.push({ Id: `id-of-${Name}`, Name, Labels });
        return Response.json({ Id: `id-of-${Name}` });
      },
      "GET /configs": () => Response.json([]),
      "GET /secrets": () => Response.json(secrets),
      "POST /secrets/create": ({ body }) => {
        if (secrets.some(({ Spec }) => Spec.Name === body.Name)) {
          return Response.json({ message: "already exists" }, { status: 409 });
        }
        secrets.push(secretOf(body.Name, body));
        return Response.json({ ID: secrets.at(-1)!.ID });
      },
      "DELETE /secrets/*": ({ parts: [id] }) => {
        const at = secrets.findIndex(({ ID }) => ID === id);
        if (at < 0) return missing();
        secrets.splice(at, 1);
        return new Response(null, { status: 200 });
      },
    },
  };
  return swarm;
}

export const secretOf = (name: string, spec: Partial<SwarmValue["Spec"]> = {}): SwarmValue => ({
  ID: `id-of-${name}`,
  Version: { Index: 1 },
  CreatedAt: AT,
  UpdatedAt: AT,
  Spec: { ...spec, Name: name },
});
