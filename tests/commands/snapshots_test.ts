import { deepEqual, equal, match } from "node:assert/strict";
import { runHere } from "../helpers/command.ts";

const RESULT = {
  restored: ["copy_data"],
  bytes: 2048,
  kept: null,
  warnings: ["/srv/logs is mounted, and its files are not in the snapshot"],
};

const SNAPSHOT = {
  ...{ snapshot: "40dc1520".repeat(8), target: "copy", mode: "stop", size: 2048, added: 1024 },
  ...{ downtimeMs: 1_500, skipped: [], skippedCount: 0, leftOut: [], hasNewTarget: true },
};

const LIST = {
  snapshots: [{
    ...{ id: "40dc1520".repeat(8), time: "2026-01-02T03:04:05.678Z", target: "nas" },
    ...{ hostname: "vm", stack: "shop", volumes: ["shop_data"], directories: [] },
    ...{ reason: "manual", note: null },
  }],
  total: 1,
  targets: [{ name: "nas", error: null }, { name: "usb", error: "Directory /mnt/usb is missing" }],
};

/** Runs a command with a service whose jobs succeed. @returns The request, and the output. */
async function run(...args: string[]) {
  const requests: unknown[] = [];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname === "/api/backup/snapshots" && request.method === "GET") {
        requests.push(search);
        return Response.json(LIST);
      }
      if (request.method === "POST") {
        const body = await request.json();
        requests.push([pathname, body]);
        if (body.mode === "fast") {
          return Response.json({ error: "body.mode: must be one of stop, live" }, { status: 400 });
        }
        return Response.json({ id: "j1", target: "copy" }, { status: 202 });
      }
      const result = args[0] === "backup-volumes" ? SNAPSHOT : RESULT;
      const done = { id: "j1", status: "succeeded", error: null, result };
      return new Response(`event: done\ndata: ${JSON.stringify(done)}\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    },
  );
  const { code, stdout, stderr } = await runHere(args, {
    env: { LONGSHORE_URL: `http://127.0.0.1:${server.addr.port}`, LONGSHORE_TOKEN: "t" },
  });
  return { code, stdout, stderr, request: requests[0] };
}

Deno.test("snapshots restore --stack restores the whole stack under another name", async () => {
  const { code, stdout, stderr, request } = await run(
    ...["snapshots", "restore", "40dc1520", "--stack", "--as", "copy"],
  );
  equal(code, 0, stderr);
  deepEqual(request, [
    "/api/backup/snapshots/40dc1520/restore",
    { what: "stack", to: "new", as: "copy" },
  ]);
  equal(stdout, "Restored and started copy.\nRestored copy_data: 2 KiB.\n");
  match(stderr, /srv\/logs is mounted/);
});

Deno.test("snapshots restore --file puts a file of a volume back", async () => {
  const { code, stderr, request } = await run(
    ...["snapshots", "restore", "40dc1520", "--file", "/volumes/data/prices.txt", "--replace"],
  );
  equal(code, 0, stderr);
  deepEqual(request, [
    "/api/backup/snapshots/40dc1520/restore",
    { what: "file", paths: ["/volumes/data/prices.txt"], to: "replace" },
  ]);
});

Deno.test("snapshots restore refuses --stack together with --volume", async () => {
  const { code, stderr, request } = await run(
    ...["snapshots", "restore", "40dc1520", "--stack", "--volume", "data"],
  );
  equal(code, 1);
  match(stderr, /Restore either the stack/);
  equal(request, undefined);
});

Deno.test("backup-volumes --keep-stopped asks for it", async () => {
  const { code, stdout, stderr, request } = await run(
    ...["backup-volumes", "shop", "--keep-stopped", "--with-images"],
  );
  equal(code, 0, stderr);
  equal(
    stdout,
    "Snapshot 40dc1520 at copy: 2 KiB; the target grew by 1 KiB; its containers stay stopped.\n",
  );
  deepEqual(request, ["/api/backup/snapshots", {
    stack: "shop",
    includeSharedUsers: false,
    withImages: true,
    keepStopped: true,
  }]);
});

Deno.test("backup-volumes says how long containers were stopped, and names a new target", async () => {
  const { stdout, stderr } = await run("backup-volumes", "shop");
  equal(
    stdout,
    "Snapshot 40dc1520 at copy: 2 KiB; the target grew by 1 KiB; containers were stopped for 1.5 s.\n",
  );
  match(stderr, /^Created target copy .*\n.*longshore backup-key show$/m);
});

Deno.test("snapshots list shows those of all targets, and names a target that is away", async () => {
  const { stdout, stderr, request } = await run("snapshots", "list");
  equal(request, "?allTargets=true");
  match(stdout, /^40dc1520 +2026-01-02T03:04:05Z +nas +vm +shop +shop_data +manual *$/m);
  equal(stderr, "The snapshots at usb cannot be listed: Directory /mnt/usb is missing\n");
  equal((await run("snapshots", "list", "--target", "nas")).request, "?target=nas");
});

Deno.test("backup-volumes names an option that the service refuses", async () => {
  const { code, stderr } = await run("backup-volumes", "shop", "--mode", "fast");
  deepEqual([code, stderr], [1, "longshore: mode: must be one of stop, live\n"]);
});
