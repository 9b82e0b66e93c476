/** Modules of the runtime in bundles of packages in the CommonJS format. @module */

/** `require` of the bundler. It needs the address of a file, and loading node:module takes 20 ms. */
const FILE_REQUIRE =
  /import \{ createRequire as (\w+) \} from "node:module";\nvar (\w+) = \1\(import\.meta\.url\);/;

/** Such packages are part of the bundle, and what is left are modules of the runtime. */
const OWN_REQUIRE = "var $2 = (name) => process.getBuiltinModule(name);";

/** @throws {Error} If the bundler writes it in another form. */
export function useRuntimeModules(text: string, name: string): string {
  const changed = text.replace(FILE_REQUIRE, OWN_REQUIRE);
  if (changed.includes("createRequire")) throw new Error(`${name} defines require differently`);
  return changed;
}
