/** Devices of a service, and its limits of them. @module */

import { byKind, exactList, list, object, strings } from "./collections.ts";
import { completing, failAt, type Read, type Reader } from "./reader.ts";
import { format, integer, name, oneOf, parsed, textOrNumber } from "./scalars.ts";
import { bytes } from "./values.ts";

/** A device of the host: `SOURCE[:TARGET[:PERMISSIONS]]`, or a name of the CDI `vendor/class=name`. */
export interface Device {
  source: string;
  target?: string;
  permissions?: string;
}

const CDI_NAME = /^[^/]+\/[^=]+=[^=]+$/;

const PERMISSIONS = /^[rwm]{1,3}$/;

export const device: Reader<Device> = byKind({
  scalar: parsed((text) => {
    const [source = "", target = source, permissions = "rwm", ...more] = text.split(":");
    if (CDI_NAME.test(text)) return { source: text };
    if (source !== "" && more.length === 0 && PERMISSIONS.test(permissions)) {
      return { source, target, permissions };
    }
    throw new Error("must have the form SOURCE[:TARGET[:PERMISSIONS]]");
  }),
  map: (node, path, scope) => {
    const { source, target = source, permissions = "rwm" } = deviceMap(node, path, scope) ?? {};
    if (source === undefined) return undefined;
    return CDI_NAME.test(source) ? { source } : { source, target: target!, permissions };
  },
});

const deviceMap = object({
  source: name,
  target: name,
  permissions: format(PERMISSIONS, "must consist of r, w and m"),
}, { required: ["source"] });

/** The number of devices; -1 for all. */
const deviceCount: Reader<number> = (node, path, scope) =>
  node.kind === "scalar" && node.value === "all" ? -1 : integer(-1)(node, path, scope);

const requestFields = {
  capabilities: list(name),
  count: deviceCount,
  device_ids: list(textOrNumber),
  driver: name,
  options: strings,
};

export type DeviceRequest = Read<typeof requestFields>;

const request: Reader<DeviceRequest> = completing(
  { fields: requestFields },
  (node, path, scope) => {
    const read = object(requestFields)(node, path, scope);
    if (read?.count === undefined || read.device_ids === undefined) return read;
    return failAt(node, path, scope, "must have either count or device_ids");
  },
);

/** An entry of `deploy.resources.reservations.devices`. */
export const deviceRequest: Reader<DeviceRequest> = completing(
  request.completion,
  (node, path, scope) => {
    const read = request(node, path, scope);
    if (!read || read.capabilities?.length) return read;
    return failAt(node, path, scope, "must have capabilities, such as gpu");
  },
);

export const gpus: Reader<DeviceRequest[]> = byKind<DeviceRequest[], DeviceRequest[]>({
  scalar: completing(
    { values: ["all"] },
    (node, path, scope) =>
      oneOf("all")(node, path, scope) && [{ capabilities: ["gpu"], count: -1 }],
  ),
  list: exactList(completing(request.completion, (node, path, scope) => {
    const read = request(node, path, scope);
    return read && { ...read, capabilities: [...new Set([...read.capabilities ?? [], "gpu"])] };
  })),
});

const rate = (amount: Reader<string> | Reader<number>) =>
  exactList(object({ path: name, rate: amount }, { required: ["path", "rate"] }));

/** 0 stands for the default. */
const weight: Reader<number> = (node, path, scope) => {
  const value = integer(0, 1000)(node, path, scope);
  return value === undefined || value === 0 || value >= 10
    ? value
    : failAt(node, path, scope, "must be a whole number from 10 to 1000");
};

export const blkio = object({
  device_read_bps: rate(bytes),
  device_read_iops: rate(integer(0)),
  device_write_bps: rate(bytes),
  device_write_iops: rate(integer(0)),
  weight,
  weight_device: exactList(object({ path: name, weight }, { required: ["path", "weight"] })),
});
