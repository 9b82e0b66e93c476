/** Programs that deploy or update containers, by their images. Data only: no rule depends on a name. @module */

export interface KnownProgram {
  name: string;
  /** Part of the image's repository. */
  image: RegExp;
  /** Containers that it updates by itself: all of the host, or those of its own stacks. */
  updates: "all" | "own" | "none";
  /** The setting that ends its updates; empty for a program without any. */
  setting: string;
}

export const KNOWN_PROGRAMS: readonly KnownProgram[] = [
  {
    name: "Portainer",
    image: /(?:^|\/)portainer\/(?:portainer|agent)/,
    updates: "own",
    setting: "Turn off GitOps updates of each stack (Stacks, the stack, Editor)",
  },
  {
    name: "Dockge",
    image: /(?:^|\/)louislam\/dockge/,
    updates: "none",
    setting: "",
  },
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
  },
  {
    name: "Ouroboros",
    image: /(?:^|\/)ouroboros/,
    updates: "all",
    setting: "Stop its container, or set MONITOR_ONLY=true",
  },
  {
    name: "What's Up Docker",
    image: /(?:^|\/)(?:getwud\/wud|fmartinou\/whats-up-docker)/,
    updates: "all",
    setting: "Remove its docker and dockercompose triggers",
  },
];

export const findProgram = (image: string): KnownProgram | undefined =>
  KNOWN_PROGRAMS.find((program) => program.image.test(image));
