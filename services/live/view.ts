/** Frames of `GET /api/stream`, as a client with an API token sees them. @module */

import { selectJob } from "../../db/jobs.ts";
import type { Caller } from "../access/caller.ts";
import {
  allowsPermission,
  includesContainer,
  isLimited,
  isOfHosts,
  type Scope,
  type ScopedContainer,
} from "../access/scope.ts";
import { visibleTo } from "../containers/visible.ts";
import type { Deps } from "../deps.ts";
import { toView } from "../events/description.ts";
import type { AppEvent } from "../events/events.ts";
import { eventKind, type EventMap } from "../events/kinds/mod.ts";
import type { Inventory } from "../containers/inventory.ts";
import type { StreamView } from "../stream/held_frames.ts";
import {
  includesTarget,
  JOB_PERMISSIONS,
  type JobView,
  redactJob,
  textFilter,
} from "../jobs/view.ts";
import { countContainers } from "./overview.ts";
import { overviewFrame } from "./overview_frame.ts";
import { summarizeStacks } from "../stacks/stacks.ts";

/** Type in the hub of events that only admins receive; clients see the type `event`. */
export const ADMIN_EVENT = "admin event";

/** Frames about this server itself, of which a caller who is limited to hosts has nothing. */
const OF_SERVER: ReadonlySet<string> = new Set(["metrics", "overview"]);

type ViewDeps = Pick<Deps, "db" | "inventory">;

type OverviewData = ReturnType<typeof overviewFrame>;

/** Data of a frame `containers`. */
interface ContainersData {
  containers: readonly ScopedContainer[];
  stacks: unknown;
}

/** Returns the view of a caller; `undefined` for one that sees everything. */
export function streamView(
  deps: ViewDeps,
  { scope }: Pick<Caller, "scope">,
): StreamView | undefined {
  if (!scope || (!scope.permissions && !isLimited(scope))) return undefined;
  const { inventory } = visibleTo(deps, { scope });

  return {
    key: JSON.stringify(scope),
    apply(type, data) {
      if (isOfHosts(scope) && OF_SERVER.has(type)) return undefined;
      switch (type) {
        case "metrics":
          return isLimited(scope)
            ? {
              ...data as object,
              containers: countContainers(inventory.listFollowed()),
              changes: {},
            }
            : data;
        case "overview":
          return allowsPermission(scope, "containers:read")
            ? overviewIn(deps, inventory, scope, data as OverviewData)
            : undefined;
        case "containers":
          return allowsPermission(scope, "containers:read")
            ? containersIn(inventory, scope, data as ContainersData)
            : undefined;
        case "alerts":
          return seesAlerts(scope) ? data : undefined;
        case "monitors":
          return allowsPermission(scope, "uptime:read") && !isLimited(scope) ? data : undefined;
        case "event":
        case ADMIN_EVENT:
          return eventIn(deps, scope, data as AppEvent);
        case "job":
          return jobIn(deps, scope, data as JobView);
        default:
          return undefined;
      }
    },
  };
}

/** A limited token sees no alerts. */
const seesAlerts = (scope: Scope) => allowsPermission(scope, "alerts:read") && !isLimited(scope);

function jobIn(deps: ViewDeps, scope: Scope, job: JobView): JobView | undefined {
  const isVisible = allowsPermission(scope, JOB_PERMISSIONS[job.targetType]) &&
    includesTarget(scope, job);
  return isVisible ? redactJob(deps, { scope }, job) : undefined;
}

/** Containers that only an alert reports are left out for a caller who sees no alerts. */
function overviewIn(
  deps: ViewDeps,
  inventory: Inventory,
  scope: Scope,
  data: OverviewData,
): unknown {
  const own = seesAlerts(scope) ? data : overviewFrame(deps, inventory.listFollowed(), new Set());
  if (allowsPermission(scope, "stacks:read")) return own;
  const { stacks: _, ...shown } = own;
  return shown;
}

function containersIn(inventory: Inventory, scope: Scope, data: ContainersData): unknown {
  const hasStacks = allowsPermission(scope, "stacks:read");
  if (!isLimited(scope)) return hasStacks ? data : { containers: data.containers };
  const containers = data.containers.filter((container) => includesContainer(scope, container));
  return hasStacks
    ? { containers, stacks: summarizeStacks(inventory.listFollowed()) }
    : { containers };
}

function eventIn(deps: ViewDeps, scope: Scope, event: AppEvent): AppEvent | undefined {
  const { permission, scope: shown } = eventKind(event.event);
  if (!allowsPermission(scope, permission)) return undefined;
  if (!isLimited(scope)) return event;
  if (shown === "job") return jobEventIn(deps, scope, event);
  return shown === "container" && isOwn(deps, scope, event) ? event : undefined;
}

/** Of a container that no longer exists only the name is known, not the stack. */
function isOwn({ inventory }: ViewDeps, scope: Scope, { data }: AppEvent): boolean {
  const { id, container } = data as EventMap["container.up"];
  const known = inventory.listFollowed().find((each) => each.id === id);
  return includesContainer(
    scope,
    known ?? { name: container, composeProject: null, labels: {} },
  );
}

/**
 * An update, a deploy or the removal of a stack belongs to its job, because the containers have
 * other names and ids meanwhile.
 */
function jobEventIn(deps: ViewDeps, scope: Scope, event: AppEvent): AppEvent | undefined {
  const { jobId, reason } = event.data as EventMap["update.failed" | "stack.down_failed"];
  const job = selectJob(deps.db, jobId);
  if (!job || !includesTarget(scope, job)) return undefined;
  const hide = textFilter(deps, { scope }, job);
  const data = { ...event.data, reason: reason === null ? null : hide(reason) };
  // The text contains the reason, too.
  return toView({ ...event, data } as AppEvent);
}
