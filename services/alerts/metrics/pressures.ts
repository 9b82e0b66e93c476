/** Alert metrics of the host's pressure (PSI). @module */

import { type PressureResource, readPressure } from "../../metrics/host/pressure.ts";
import { fileReason } from "./host_samples.ts";
import { metric, ROUND_MS, unsupported } from "./kind.ts";

const pressure = (resource: PressureResource, name: string) =>
  metric(`pressure_${resource}`, {
    target: "host",
    description: "Percent of the last minute in which some task waited; needs PROC_PATH",
    group: "Host",
    words: `${name} pressure`,
    unit: "%",
    threshold: 20,
    slow: {
      everyMs: ROUND_MS,
      async read({ config }) {
        if (config.procPath === null) {
          return unsupported("Set PROC_PATH to a mount of the host's /proc to read its pressure");
        }
        try {
          return { value: await readPressure(config.procPath, resource) };
        } catch (error) {
          return unsupported(`The host does not report pressure (PSI): ${fileReason(error)}`);
        }
      },
    },
  });

export const pressures = [
  pressure("cpu", "CPU"),
  pressure("memory", "memory"),
  pressure("io", "I/O"),
];
