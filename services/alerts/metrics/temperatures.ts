/** The alert metric of the host's temperature. @module */

import { findSensors, readTemperature } from "../../metrics/host/temperature.ts";
import { metric, ROUND_MS, unsupported } from "./kind.ts";

export const temperatures = [
  metric("temperature_celsius", {
    target: "host",
    description: "Of the hottest sensor; needs SYS_PATH",
    group: "Host",
    words: "temperature",
    unit: "°C",
    threshold: 85,
    slow: {
      everyMs: 3 * ROUND_MS,
      async read({ config }) {
        if (config.sysPath === null) {
          return unsupported("Set SYS_PATH to a mount of the host's /sys to read its temperatures");
        }
        const sensors = await findSensors(config.sysPath);
        if (sensors.length === 0) return unsupported("The host shows no temperature sensor");
        const value = await readTemperature(sensors);
        return value === undefined ? { reason: "No temperature sensor can be read" } : { value };
      },
    },
  }),
];
