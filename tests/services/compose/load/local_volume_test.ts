import { deepEqual, equal } from "node:assert/strict";
import { loadProject } from "../../../../services/compose/load/load.ts";
import { findForbiddenOption } from "../../../../services/compose/load/local_volume.ts";

const ALLOWED = ["/srv", "/opt/stacks/shop"];

for (
  const options of [
    {},
    { size: "1g" },
    { type: "tmpfs", device: "tmpfs", o: "size=100m" },
    { type: "nfs", device: ":/export", o: "addr=192.0.2.1,rw" },
    { type: "nfs4", device: ":/export", o: "addr=192.0.2.1" },
    { type: "cifs", device: "//host/share", o: "username=a" },
    { type: "none", device: "/srv/data", o: "bind" },
    { type: "none", device: "/srv", o: "rbind,ro" },
    { device: "/srv/a/../b", o: "bind" },
  ]
) {
  Deno.test(`BIND_ALLOW allows ${JSON.stringify(options)}`, () => {
    equal(findForbiddenOption(options, ALLOWED), undefined);
  });
}

for (
  const [option, options] of [
    ["device", { type: "none", device: "/etc", o: "bind" }],
    ["device", { type: "none", device: "/srv/../etc", o: "bind" }],
    ["device", { type: "none", device: "/srvother", o: "bind" }],
    ["device", { type: "none", device: "etc", o: "bind" }],
    ["device", { type: "none", device: "./etc", o: "rbind" }],
    ["device", { type: "none", o: "bind" }],
    ["device", { type: "none", device: "/etc", o: "ro, bind" }],
    ["device", { type: "none", device: "/etc", o: '"bind"' }],
    ["type", { type: "nfs", device: "/etc", o: "bind" }],
    ["type", { type: "none", device: "/srv" }],
    ["type", { device: "/srv" }],
    ["type", { type: "ext4", device: "/dev/sda1" }],
    ["type", { type: "overlay", device: "overlay", o: "lowerdir=etc,upperdir=/srv/a" }],
    ["type", { type: "overlay", device: "overlay", o: "lowerdir=/srv/a:/srv/b" }],
    ["type", { type: "proc", device: "proc" }],
    ["type", { type: "sysfs", device: "sysfs" }],
    ["type", { type: "devtmpfs", device: "devtmpfs" }],
    ["type", { type: "TMPFS", device: "tmpfs" }],
    ["Device", { type: "tmpfs", Device: "/etc" }],
    ["O", { O: "bind", device: "/etc" }],
  ] as const
) {
  Deno.test(`BIND_ALLOW refuses ${JSON.stringify(options)}`, () => {
    equal(findForbiddenOption(options as Record<string, string>, ALLOWED)?.option, option);
  });
}

Deno.test("BIND_ALLOW counts for what several files make of a volume", async () => {
  const { errors } = await loadProject({
    compose: `services: {web: {image: nginx, volumes: ["data:/data"]}}
volumes: {data: {driver_opts: {type: nfs, device: /etc}}, other: {driver: sshfs, driver_opts: {o: bind}}}`,
    configFiles: ["/opt/stacks/shop/compose.yaml", "/opt/stacks/shop/over.yaml"],
    directory: "/opt/stacks/shop",
    readFile: (path) =>
      path === "over.yaml" ? "volumes: {data: {driver_opts: {type: none, o: bind}}}" : undefined,
    bindAllow: ALLOWED,
  });
  deepEqual(errors.map(({ path }) => path), ["volumes.data.driver_opts.device"]);
});
