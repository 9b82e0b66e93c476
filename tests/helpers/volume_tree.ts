/** A tree with everything that a volume may contain, and the description of any tree, on the host as root. @module */

import type { Entry } from "../../services/backup/restic/entry.ts";

/** Name in a tree with everything that is known of it. Texts have a character for each byte. */
export interface Described {
  path: string;
  type: string;
  mode: number;
  owner: string;
  /** Nanoseconds since 1970. */
  mtime: bigint;
  /** SHA-256 of a file's content; the target of a link. */
  content: string;
  /** The first path of the same file. */
  same: string;
  xattrs: Record<string, string>;
}

/** Long names, and names that are hard to quote. */
const LONG = `${"p".repeat(200)}/${"q".repeat(200)}`;

const MAKE = `
cd "$1"
mkdir -p d/e empty odd sg "${LONG}"
echo hi > d/f
ln d/f d/hard
ln -s ../../../x link
ln -s /etc/passwd absolute
ln -s "$(printf 'to\\377')" "$(printf 'odd/bad\\377')link"
head -c 30000 /dev/zero > zeros
truncate -s 300000 sparse
mkfifo fifo
mknod block b 7 9
mknod char c 1 3
echo s > suid
chmod 4755 suid
setcap cap_net_raw+ep suid
chmod 3777 sg
chown 1234:4321 d/f
chown 70000:3000000 d/e
printf x > "$(printf 'odd/bad\\377name')"
mkdir "$(printf 'odd/bad\\377dir')"
printf z > "$(printf 'odd/bad\\377dir/\\376')"
printf y > "$(printf 'new\\nline')"
echo é > é
: > " -a'\\"\\$\\\\ "
echo long > "${LONG}/file"
touch -d '1965-01-01 00:00:00Z' old
touch -d '2020-02-02 02:02:02.123456789Z' ns d/e
python3 -c '
import os, socket
os.setxattr("d/f", "user.a", b"b\\xff=\\nc")
acl = "0200000001000700ffffffff02000600e803000004000500ffffffff10000700ffffffff20000500ffffffff"
os.setxattr("d/e", "system.posix_acl_access", bytes.fromhex(acl))
socket.socket(socket.AF_UNIX).bind("socket")
'
chown 55:66 .
chmod 2750 .`;

const DESCRIBE = `
import hashlib, json, os, stat, sys
os.chdir(os.fsencode(sys.argv[1]))
types = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "symlink", stat.S_IFIFO: "fifo",
         stat.S_IFSOCK: "socket", stat.S_IFBLK: "dev", stat.S_IFCHR: "chardev"}
seen, found = {}, []
def text(b): return b.decode("latin1")
def describe(path):
    at = path or b"."
    s = os.lstat(at)
    kind = types[stat.S_IFMT(s.st_mode)]
    content = ""
    if kind == "file": content = hashlib.sha256(open(at, "rb").read()).hexdigest()
    if kind == "symlink": content = text(os.readlink(at))
    xattrs = {k: text(os.getxattr(at, k, follow_symlinks=False))
              for k in os.listxattr(at, follow_symlinks=False)}
    same = seen.setdefault(s.st_ino, path)
    found.append({"path": text(path), "type": kind, "mode": s.st_mode & 0o7777,
                  "owner": "%d:%d" % (s.st_uid, s.st_gid), "mtime": str(s.st_mtime_ns),
                  "content": content, "same": text(same), "xattrs": xattrs})
    if kind == "dir":
        for name in sorted(os.listdir(at)): describe(path + b"/" + name if path else name)
describe(b"")
print(json.dumps(found))`;

/** Fills an empty directory. */
export async function makeTree(path: string): Promise<void> {
  await run("sh", ["-euc", MAKE, "sh", path]);
}

/** Describes a directory, the root with the path "". */
export async function describeTree(path: string): Promise<Described[]> {
  const found = JSON.parse(await run("python3", ["-c", DESCRIBE, path]));
  return found.map((each: Described) => ({ ...each, mtime: BigInt(each.mtime) }));
}

async function run(program: string, args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args,
    env: { LC_ALL: "C.UTF-8", TZ: "UTC" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** Describes entries, sorted like a tree. */
export async function describeEntries(entries: AsyncIterable<Entry>): Promise<Described[]> {
  const found: Described[] = [];
  for await (const entry of entries) {
    const { path, type, mode, uid, gid, mtime, linkTarget = "", hardLinkTo, xattrs = [] } = entry;
    const other = found.find((each) => each.path === hardLinkTo);
    found.push({
      path,
      type,
      mode,
      owner: `${uid}:${gid}`,
      mtime,
      content: other?.content ?? (type === "file" ? await hash(entry) : linkTarget),
      same: hardLinkTo ?? path,
      xattrs: other?.xattrs ??
        Object.fromEntries(xattrs.map(({ name, value }) => [name, String.fromCharCode(...value)])),
    });
  }
  const key = ({ path }: Described) => path.replaceAll("/", "\0");
  found.sort((a, b) => key(a) < key(b) ? -1 : 1);
  // The first path by name, whichever of them came first.
  const first = Map.groupBy(found, ({ same }) => same);
  return found.map((each) => ({ ...each, same: first.get(each.same)![0]!.path }));
}

async function hash({ content, size }: Entry): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content!) pieces.push(piece);
  const bytes = await new Blob(pieces as BlobPart[]).bytes();
  if (bytes.length !== size) throw new Error(`${bytes.length} bytes instead of ${size}`);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** Entries of what was described, with contents of the directory. */
export async function* entriesOf(path: string, tree: readonly Described[]): AsyncGenerator<Entry> {
  for (const { path: each, type, mode, owner, mtime, content, same, xattrs } of tree) {
    const [uid, gid] = owner.split(":").map(Number);
    const isFile = type === "file" && same === each;
    const bytes = isFile ? await readBytes(path, each) : new Uint8Array();
    yield {
      path: each,
      type: type as Entry["type"],
      ...{ mode, uid: uid!, gid: gid!, mtime },
      size: bytes.length,
      ...(type === "symlink" && { linkTarget: content }),
      ...(same !== each && { hardLinkTo: same }),
      ...(isFile && { content: ReadableStream.from([bytes]) }),
      xattrs: Object.entries(xattrs).map(([name, value]) => ({
        name,
        value: Uint8Array.from(value, (byte) => byte.charCodeAt(0)),
      })),
    };
  }
}

/** Through Python, because names may not be UTF-8. */
async function readBytes(path: string, each: string): Promise<Uint8Array<ArrayBuffer>> {
  const script = "import sys;p=bytes.fromhex(sys.argv[1]);print(open(p,'rb').read().hex())";
  const root = new TextEncoder().encode(`${path}/`);
  const name = Uint8Array.from([...root, ...Uint8Array.from(each, (byte) => byte.charCodeAt(0))]);
  return Uint8Array.fromHex((await run("python3", ["-c", script, name.toHex()])).trim());
}
