import { equal, match, rejects } from "node:assert/strict";
import { type ImageSource, writeImage } from "../../../deploy/release/image.ts";
import { run, sha256 } from "../../../deploy/release/programs.ts";
import { writeBaseImage } from "../../helpers/base_image.ts";
import { temporaryDirectory } from "../../helpers/command.ts";
import { missingProgram } from "../../helpers/sandbox.ts";

const ignore = missingProgram("setpriv", "ldd", "gzip") !== undefined;

async function sourceIn(directory: string): Promise<ImageSource> {
  await writeBaseImage(`${directory}/base`);
  await Deno.writeTextFile(`${directory}/longshore`, "an executable");
  return {
    version: "1.2.3",
    target: Deno.build.target,
    base: `${directory}/base`,
    executable: `${directory}/longshore`,
    created: "2026-01-31T12:00:00.000Z",
  };
}

Deno.test({
  name:
    "an image is an OCI layout whose bytes depend on its content alone, also from an archived base",
  ignore,
  async fn() {
    using directory = temporaryDirectory();
    const at = (name: string) => `${directory.path}/${name}`;
    const source = await sourceIn(directory.path);
    await writeImage(at("image.tar"), source);
    await run("tar", ["-cf", at("base.tar"), "-C", at("base"), "."]);
    await Deno.utime(source.executable, 1, 1);

    await writeImage(at("again.tar"), { ...source, base: at("base.tar") });

    equal(await sha256(at("again.tar")), await sha256(at("image.tar")));
    await Deno.mkdir(at("layout"));
    await run("tar", ["-xf", at("image.tar"), "-C", at("layout")]);
    const read = async (name: string) => JSON.parse(await Deno.readTextFile(at(`layout/${name}`)));
    const blob = (digest: string) => read(`blobs/${digest.replace(":", "/")}`);
    const { manifests: [{ digest }] } = await read("index.json");
    const { config, layers } = await blob(digest);
    equal(layers.length, 2);
    for await (const { name } of Deno.readDir(at("layout/blobs/sha256"))) {
      equal(await sha256(at(`layout/blobs/sha256/${name}`)), name);
    }
    const { rootfs, config: settings } = await blob(config.digest);
    equal(rootfs.diff_ids.length, 2);
    equal(settings.User, undefined);
    const layer = at(`layout/blobs/${layers[1].digest.replace(":", "/")}`);
    const listed = await run("tar", ["--numeric-owner", "-tzvf", layer]);
    match(listed, /^drwx------ 65532\/65532 .* data\/$/m);
    match(listed, /^-rwxr-xr-x 0\/0 .* usr\/local\/bin\/longshore$/m);
  },
});

Deno.test({
  name: "writeImage() refuses a base without the processor, and a damaged one",
  ignore,
  async fn() {
    using directory = temporaryDirectory();
    const source = await sourceIn(directory.path);
    const archive = `${directory.path}/image.tar`;
    const other = Deno.build.arch === "aarch64" ? "x86_64" : "aarch64";
    await rejects(
      writeImage(archive, { ...source, target: `${other}-unknown-linux-gnu` }),
      /has no image for (amd64|arm64)$/,
    );
    for await (const { name } of Deno.readDir(`${source.base}/blobs/sha256`)) {
      await Deno.writeTextFile(`${source.base}/blobs/sha256/${name}`, " ", { append: true });
    }
    await rejects(writeImage(archive, source), /is damaged$/);
  },
});
