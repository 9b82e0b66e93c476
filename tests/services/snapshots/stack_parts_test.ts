import { deepEqual, throws } from "node:assert/strict";
import type { StackDescription } from "../../../services/snapshots/description.ts";
import type { PlannedVolume } from "../../../services/snapshots/stack/job.ts";
import { partWarnings } from "../../../services/snapshots/stack/parts.ts";
import type { Deps } from "../../../services/deps.ts";
import type { Project } from "../../../services/compose/load/resolve.ts";

const DESCRIPTION = {
  volumes: [{
    name: "data",
    driver: "local",
    labels: {},
    options: { type: "none", o: "bind,password=x", device: "/" },
  }],
  networks: [
    { Name: "plain", Driver: "bridge" },
    {
      Name: "lan",
      Driver: "macvlan",
      Options: { parent: "eth0" },
      IPAM: { Config: [{ Subnet: "192.0.2.0/24" }] },
    },
  ],
} as unknown as StackDescription;

const VOLUME = { name: "new", described: "data", key: null, isNew: true } as PlannedVolume;

const warningsWith = (bindAllow: string[] | null) =>
  partWarnings(
    { config: { bindAllow } } as unknown as Pick<Deps, "config">,
    { volumes: [VOLUME], networks: ["plain", "lan"] },
    DESCRIPTION,
    { volumes: {} } as unknown as Project,
  );

Deno.test("the plan of a restore names what new volumes and networks have of the host", () => {
  deepEqual(warningsWith(null), [
    "Volume new has options of driver local (type, o, device), and mounts /",
    "Network lan has driver macvlan, 192.0.2.0/24, parent=eth0",
  ]);
  throws(() => warningsWith(["/srv"]), {
    message: "Volume new: device must be in a directory that BIND_ALLOW allows",
  });
});
