/** Files of variables that SOPS has encrypted. @module */

import type { SopsFile } from "./file.ts";
import { SopsError } from "./values.ts";

const LINE = /^([^=#]+)=(.*)$/;
const PREFIX = "sops_";
const RECIPIENT = /^age__list_(\d+)__map_recipient$/;

/** Line breaks of values are written as `\n`. */
const unescape = (text: string) => text.replaceAll("\\n", "\n");

export function parseDotenv(text: string): SopsFile {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  const metadata = new Map<string, string>();
  const rest = lines.filter((line) => {
    const [, name = "", value = ""] = LINE.exec(line) ?? [];
    if (!name.startsWith(PREFIX)) return !line.startsWith("#ENC[");
    metadata.set(name.slice(PREFIX.length), unescape(value));
    return false;
  });
  const valueOf = (name: string) => metadata.get(name) ?? "";
  return {
    age: [...metadata].flatMap(([name, recipient]) => {
      const [, at] = RECIPIENT.exec(name) ?? [];
      return at === undefined ? [] : [{ recipient, enc: valueOf(`age__list_${at}__map_enc`) }];
    }),
    lastModified: valueOf("lastmodified"),
    mac: valueOf("mac"),
    isOnlyEncrypted: valueOf("mac_only_encrypted") === "true",
    open: ({ open }) =>
      rest.map((line) => {
        if (line === "" || line.startsWith("#")) return line;
        const [, name, value] = LINE.exec(line) ?? [];
        if (name === undefined) throw new SopsError("has a line that is not a variable");
        return `${name}=${`${open(unescape(value!), [name])}`.replaceAll("\n", "\\n")}`;
      }).join("\n"),
  };
}
