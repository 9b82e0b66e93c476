import { temporaryDirectory } from "../helpers/command.ts";
import { change, NEXT } from "./build.ts";

Deno.test("the later version of the drill can still be made from the sources", async () => {
  using directory = temporaryDirectory();
  for (const file of new Set(NEXT.map((each) => each.file))) {
    const copy = `${directory.path}/${file}`;
    await Deno.mkdir(copy.slice(0, copy.lastIndexOf("/")), { recursive: true });
    await Deno.copyFile(new URL(`../../${file}`, import.meta.url), copy);
  }
  for (const each of NEXT) await change(directory.path, each);
});
