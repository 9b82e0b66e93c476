import { deepEqual, equal } from "node:assert/strict";
import { findSelf, selfMatcher } from "../../../services/containers/self_container.ts";

const ID = "3f9c2a".padEnd(64, "0");
const OTHER = "3f9c2a".padEnd(63, "0") + "1";

function find(files: Record<string, string>, hostname = "web-1", procPath: string | null = null) {
  return findSelf({
    hostname,
    procPath,
    readTextFile: (path) => {
      const text = files[path];
      if (text === undefined) throw new Deno.errors.NotFound(path);
      return text;
    },
  });
}

Deno.test("findSelf() finds nothing on a bare host, whatever its mounts name", () => {
  const mounts = `36 35 98:0 / /var/lib/docker/containers/${ID}/mounts/shm rw - tmpfs shm rw`;
  deepEqual(find({ "/proc/self/mountinfo": mounts }), {
    isContainerized: false,
    id: null,
    hostname: null,
  });
});

for (
  const { source, files, procPath } of [
    {
      source: "the cgroup (v1)",
      files: { "/.dockerenv": "", "/proc/self/cgroup": `12:cpu:/docker/${ID}\n0::/system.slice` },
    },
    {
      source: "a systemd slice",
      files: { "/.dockerenv": "", "/proc/self/cgroup": `0::/system.slice/docker-${ID}.scope` },
    },
    {
      source: "the mount table (cgroup v2)",
      files: {
        "/.dockerenv": "",
        "/proc/self/cgroup": "0::/\n",
        "/proc/self/mountinfo":
          `700 690 8:1 /volumes/${OTHER}/_data /data rw - ext4 /dev/sda1 rw\n` +
          `701 690 8:1 /var/lib/docker/containers/${ID}/hostname /etc/hostname rw - ext4 /dev/sda1 rw`,
      },
    },
    {
      source: "Podman's own file",
      files: { "/run/.containerenv": `engine="podman-4.3.1"\nname="x"\nid="${ID}"\n` },
    },
    {
      source: "a mounted proc",
      files: { "/.dockerenv": "", "/host/proc/self/cgroup": `12:cpu:/docker/${ID}` },
      procPath: "/host/proc",
    },
  ]
) {
  Deno.test(`findSelf() finds the id in ${source}`, () => {
    deepEqual(find(files, "web-1", procPath ?? null), {
      isContainerized: true,
      id: ID,
      hostname: "web-1",
    });
  });
}

const candidate = (change = {}) => ({ id: ID, hostname: "", networkMode: "bridge", ...change });

Deno.test("selfMatcher() compares known ids in full", () => {
  const isSelf = selfMatcher({ id: ID, hostname: "web-1" });
  equal(isSelf(candidate()), true);
  equal(isSelf(candidate({ id: OTHER, hostname: "web-1" })), false);
});

Deno.test("selfMatcher() takes the default host name for the beginning of the id", () => {
  const isSelf = selfMatcher({ id: null, hostname: ID.slice(0, 12) });
  equal(isSelf(candidate()), true);
  equal(isSelf(candidate({ id: "a".repeat(64), hostname: ID.slice(0, 12) })), false);
});

Deno.test("selfMatcher() takes a configured host name, but not one that is the host's", () => {
  const isSelf = selfMatcher({ id: null, hostname: "web-1" });
  equal(isSelf(candidate({ hostname: "web-1" })), true);
  equal(isSelf(candidate({ hostname: "web-1", networkMode: "host" })), false);
});

Deno.test("selfMatcher() knows no self on a bare host", () => {
  equal(selfMatcher({ id: null, hostname: null })(candidate({ hostname: "web-1" })), false);
});
