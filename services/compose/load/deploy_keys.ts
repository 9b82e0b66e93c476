/**
 * The keys of `deploy` of a service.
 *
 * @see https://github.com/compose-spec/compose-spec/blob/main/deploy.md
 * @module
 */

import { exactList, list, object, strings } from "./collections.ts";
import { deviceRequest } from "./devices.ts";
import { processors } from "./limits.ts";
import { integer, name, number, oneOf } from "./scalars.ts";
import { bytes, duration } from "./values.ts";

const rollout = object({
  parallelism: integer(0),
  delay: duration,
  failure_action: oneOf("continue", "pause", "rollback"),
  monitor: duration,
  max_failure_ratio: number,
  order: oneOf("start-first", "stop-first"),
});

export const deploy = object({
  mode: oneOf("replicated", "global", "replicated-job", "global-job"),
  endpoint_mode: oneOf("vip", "dnsrr"),
  replicas: integer(0, 1_000),
  labels: strings,
  update_config: rollout,
  rollback_config: rollout,
  resources: object({
    limits: object({ cpus: processors, memory: bytes, pids: integer(-1) }),
    reservations: object({
      cpus: number,
      memory: bytes,
      pids: integer(-1),
      devices: exactList(deviceRequest),
      generic_resources: exactList(object({
        discrete_resource_spec: object({ kind: name, value: integer(0) }),
      })),
    }),
  }),
  restart_policy: object({
    condition: oneOf("none", "on-failure", "any"),
    delay: duration,
    max_attempts: integer(0),
    window: duration,
  }),
  placement: object({
    constraints: list(name),
    preferences: exactList(object({ spread: name })),
    max_replicas_per_node: integer(0),
  }),
});
