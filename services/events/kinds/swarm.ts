/** Events about the services and nodes of a swarm. @module */

import { duration, joined } from "../text.ts";
import { type Field, kind, type KindSubject, OF_SWARM } from "./kind.ts";

interface ServiceData {
  /** With the stack's name, e.g. `shop_web`. */
  service: string;
  id: string;
  stack: string | null;
}

interface NodeData {
  /** Host name. */
  node: string;
  id: string;
}

const shared = {
  group: "Swarm",
  permission: "swarm:read",
  page: "/swarm",
  isShared: true,
} as const;

const keyOfService = ({ id }: ServiceData) => `${OF_SWARM}service ${id}`;
const keyOfNode = ({ id }: NodeData) => `${OF_SWARM}node ${id}`;

const service = {
  ...shared,
  name: (field: Field) => field("service"),
  thread: keyOfService,
  subject: (data: ServiceData): KindSubject => ({ key: keyOfService(data), kind: "measure" }),
};

const node = {
  ...shared,
  name: (field: Field) => field("node"),
  thread: keyOfNode,
  subject: (data: NodeData): KindSubject => ({ key: keyOfNode(data), kind: "measure" }),
};

const remedy = () => ({ text: "Show swarm", to: "/swarm" });

export const swarmKinds = [
  kind("service.degraded", {
    ...service,
    data: {} as ServiceData & { running: number; desired: number; reason: string | null },
    description: "Fewer tasks of a service have been running for 15 seconds than should",
    words: "service degraded",
    title: "Service degraded",
    lines: (field, text) => [
      joined("Running tasks: ", field("running"), ` of ${field("desired")}`),
      text("reason"),
    ],
    severity: "warning",
    phase: "begin",
    remedy,
  }),
  kind("service.recovered", {
    ...service,
    data: {} as ServiceData & { degradedSeconds: number; wasRemoved: boolean },
    description: "All tasks of a degraded service run again, or the service was removed",
    words: "service recovered",
    title: "Service recovered",
    lines: (field) => [
      field("wasRemoved") === "true" ? "The service was removed" : "All tasks run",
      joined("Was degraded for ", duration(field("degradedSeconds"))),
    ],
    phase: "end",
  }),
  kind("service.update_rolled_back", {
    ...shared,
    name: service.name,
    data: {} as ServiceData & { image: string; reason: string },
    description: "New tasks failed, and Swarm returned to the earlier version of a service",
    words: "update rolled back",
    title: "Service update rolled back",
    lines: (field, text) => [joined("Image: ", field("image")), text("reason")],
    severity: "warning",
    remedy,
  }),
  kind("node.down", {
    ...node,
    data: {} as NodeData & { role: string; reason: string },
    description: "A node of the swarm does not answer its managers",
    words: "node down",
    title: "Node down",
    lines: (field, text) => [joined("Role: ", field("role")), text("reason")],
    severity: "critical",
    phase: "begin",
    remedy,
  }),
  kind("node.up", {
    ...node,
    data: {} as NodeData & { downtimeSeconds: number; wasRemoved: boolean },
    description: "A node of the swarm answers again, or was removed",
    words: "node up",
    title: "Node up",
    lines: (field) => [
      field("wasRemoved") === "true" ? "The node was removed" : "",
      joined("Was down for ", duration(field("downtimeSeconds"))),
    ],
    phase: "end",
  }),
];
