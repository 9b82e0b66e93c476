/**
 * Other programs on the host that deploy or update containers. Two programs that update one container
 * recreate it in turns.
 *
 * @module
 */

import type { Container } from "../containers/inventory.ts";

export interface KnownProgram {
  name: string;
  /** Part of the image's repository. */
  image: RegExp;
  /** Containers that it updates by itself: all of the host, or those of its own stacks. */
  updates: "all" | "own" | "none";
  /** The setting that ends its updates; empty for a program without any. */
  setting: string;
  /** Variable that is `true` where it only reports updates. */
  monitorOnly?: string;
  /** Variable that is `true` where it updates only containers with the label. */
  labelOnly?: { variable: string; label: string };
}

/** Data only: no rule depends on a name. */
const PROGRAMS: readonly KnownProgram[] = [
  {
    name: "Portainer",
    image: /(?:^|\/)portainer\/(?:portainer|agent)/,
    updates: "own",
    setting: "Turn off GitOps updates of each stack (Stacks, the stack, Editor)",
  },
  { name: "Dockge", image: /(?:^|\/)louislam\/dockge/, updates: "none", setting: "" },
  {
    name: "Arcane",
    image: /(?:^|\/)(?:ofkm|getarcaneapp)\/arcane/,
    updates: "own",
    setting: "Turn off Auto Update (Settings, Docker)",
  },
  {
    name: "Komodo",
    image: /(?:^|\/)(?:moghtech|mbecker20)\/komodo/,
    updates: "own",
    setting: "Turn off Auto Update of each stack (Stacks, the stack, Config)",
  },
  {
    name: "Dockhand",
    image: /(?:^|\/)dockhand/,
    updates: "own",
    setting: "Turn off automatic updates of each container and environment (Schedules)",
  },
  {
    name: "Watchtower",
    image: /(?:^|\/)watchtower/,
    updates: "all",
    setting: "Stop its container, or set WATCHTOWER_MONITOR_ONLY=true",
    monitorOnly: "WATCHTOWER_MONITOR_ONLY",
    labelOnly: {
      variable: "WATCHTOWER_LABEL_ENABLE",
      label: "com.centurylinklabs.watchtower.enable",
    },
  },
  {
    name: "Ouroboros",
    image: /(?:^|\/)ouroboros/,
    updates: "all",
    setting: "Stop its container, or set MONITOR_ONLY=true",
    monitorOnly: "MONITOR_ONLY",
    labelOnly: { variable: "LABEL_ENABLE", label: "com.ouroboros.enable" },
  },
  {
    name: "What's Up Docker",
    image: /(?:^|\/)(?:getwud\/wud|fmartinou\/whats-up-docker)/,
    updates: "none",
    setting: "Remove its docker and dockercompose triggers",
  },
];

export const findProgram = (image: string): KnownProgram | undefined =>
  PROGRAMS.find((program) => program.image.test(image));

const CONFIG_FILES_LABEL = "com.docker.compose.project.config_files";

/**
 * Whether a container has mounted the Compose file of another one, at the path in the labels of that
 * one: then its program has deployed it.
 */
export function hasFilesOf(
  { details: { mounts }, composeProject }: Container,
  other: Pick<Container, "labels" | "composeProject">,
): boolean {
  // A program that is in a stack itself was deployed by another one.
  if (composeProject !== null && composeProject === other.composeProject) return false;
  const [path = ""] = (other.labels[CONFIG_FILES_LABEL] ?? "").split(",");
  return mounts.some(({ destination }) =>
    destination !== "/" && path.startsWith(`${destination.replace(/\/$/, "")}/`)
  );
}

/** Returns what says whether a running program updates a container besides this service. */
export function otherUpdates(
  containers: readonly Container[],
): (container: Container) => boolean {
  const programs = containers.flatMap((container) => {
    const program = container.state === "running" ? findProgram(container.image) : undefined;
    return !program || program.updates === "none" || isOn(container, program.monitorOnly)
      ? []
      : [{ container, program }];
  });
  return (other) =>
    programs.some(({ container, program: { updates, labelOnly } }) => {
      if (container.id === other.id) return false;
      if (updates === "own") return hasFilesOf(container, other);
      return !isOn(container, labelOnly?.variable) || other.labels[labelOnly!.label] === "true";
    });
}

const isOn = ({ details: { env } }: Container, variable: string | undefined): boolean =>
  env.some(({ name, value }) => name === variable && /^(?:1|t|true)$/i.test(value));
