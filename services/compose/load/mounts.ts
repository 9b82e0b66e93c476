/** Mounts: `[SOURCE:]TARGET[:MODE]`, or a map. @module */

import { checkMounted, isAbsolutePath, isPath, resolvePath, trimSlash } from "./paths.ts";
import { boolean, fileMode, oneOf, parsed, text } from "./scalars.ts";
import { byKind, object, strings } from "./collections.ts";
import { completing, failAt, type Reader } from "./reader.ts";
import { quote, type Scope, warn } from "./scope.ts";
import { bytes } from "./values.ts";

const MOUNT_TYPES = ["bind", "volume", "tmpfs", "npipe", "cluster", "image"] as const;

const PROPAGATION = ["shared", "slave", "private", "rshared", "rslave", "rprivate"] as const;

export interface Mount {
  type: typeof MOUNT_TYPES[number];
  /** A path on the host, the name of a volume or an image; missing for an anonymous volume. */
  source?: string;
  target: string;
  read_only?: boolean;
  consistency?: string;
  bind?: {
    propagation?: string;
    create_host_path?: boolean;
    recursive?: string;
    selinux?: string;
  };
  volume?: { nocopy?: boolean; subpath?: string; labels?: Record<string, string> };
  tmpfs?: { size?: string; mode?: string };
  image?: { subpath?: string };
}

/** `C:\data:C:\mnt:ro` has colons that separate nothing. */
const SHORT = /^(?:((?:[A-Za-z]:[\\/])?[^:]*):)?((?:[A-Za-z]:[\\/])?[^:]+)(?::([A-Za-z,]*))?$/;

/**
 * Parses the short syntax; the source is as written.
 *
 * @throws {Error}
 */
export function parseMount(text: string): Mount {
  const parts = SHORT.exec(text);
  let [, source, target = "", mode = ""] = parts ?? [];
  // `data:/var/lib:ro` has three parts; `/var/lib:ro` is not distinguishable from source and target.
  if (source === undefined && mode !== "") [source, target, mode] = [target, mode, ""];
  if (!parts || !isAbsolutePath(target) || source === "") {
    throw new Error(
      `must have the form [SOURCE:]TARGET[:MODE] with an absolute path as the target, not ${
        quote(text)
      }`,
    );
  }
  const mount: Mount = source === undefined
    ? { type: "volume", target }
    : isPath(source)
    ? { type: "bind", source, target, bind: { create_host_path: true } }
    : { type: "volume", source, target, volume: {} };
  for (const option of mode.split(",").filter(Boolean)) applyOption(mount, option);
  return mount;
}

/** @throws {Error} */
function applyOption(mount: Mount, option: string): void {
  if (option === "ro") mount.read_only = true;
  else if (option === "z" || option === "Z") mount.bind = { ...mount.bind, selinux: option };
  else if (option === "nocopy") mount.volume = { ...mount.volume, nocopy: true };
  else if (/^(?:consistent|cached|delegated)$/.test(option)) mount.consistency = option;
  else if (PROPAGATION.some((known) => known === option)) {
    mount.bind = { ...mount.bind, propagation: option };
  } else if (option !== "rw") {
    throw new Error(`has the unknown mode ${quote(option)}; the usual one is ro`);
  }
}

const longMount = object({
  type: oneOf(...MOUNT_TYPES),
  source: text,
  target: text,
  read_only: boolean,
  consistency: text,
  bind: object({
    propagation: oneOf(...PROPAGATION),
    create_host_path: boolean,
    recursive: oneOf("enabled", "disabled", "writable", "readonly"),
    selinux: oneOf("z", "Z"),
  }),
  volume: object({ nocopy: boolean, subpath: text, labels: strings }),
  tmpfs: object({ size: bytes, mode: fileMode }),
  image: object({ subpath: text }),
}, { required: ["type", "target"] });

/** One entry of `volumes` of a service. */
export const mount: Reader<Mount> = completing(longMount.completion, (node, path, scope) => {
  const read = byKind<Mount, never, Mount>({
    scalar: parsed(parseMount),
    map: (node, path, scope) => {
      const { type, target, ...rest } = longMount(node, path, scope) ?? {};
      if (type === undefined || target === undefined) return undefined;
      if (!isAbsolutePath(target)) {
        return failAt(node, `${path}.target`, scope, "must be an absolute path");
      }
      if ((type === "bind" || type === "image") && rest.source === undefined) {
        return failAt(node, path, scope, `must have source, as its type is ${type}`);
      }
      return { type, target, ...rest } as Mount;
    },
  })(node, path, scope);
  if (!read) return undefined;
  const own = withoutForeignOptions(read, path, scope);
  const target = trimSlash(own.target);
  if (own.type !== "bind" || own.source === undefined) return { ...own, target };
  try {
    const source = resolvePath(own.source, scope);
    checkMounted(source, path, scope);
    return { ...own, source, target };
  } catch (error) {
    return failAt(node, path, scope, (error as Error).message);
  }
});

const OPTIONS = ["bind", "volume", "tmpfs", "image"] as const;

/** Without the options of other types, e.g. `Z` of a named volume, which warnings name. */
function withoutForeignOptions(mount: Mount, path: string, scope: Scope): Mount {
  const own = { ...mount };
  for (const type of OPTIONS) {
    const names = Object.keys(mount[type] ?? {});
    if (type === mount.type || names.length === 0) continue;
    delete own[type];
    const options = names.map((name) =>
      name === "selinux" ? `bind.selinux (${mount.bind!.selinux})` : `${type}.${name}`
    ).join(", ");
    warn(scope, path, `has ${options}, without effect on a mount of the type ${mount.type}`);
  }
  return own;
}
