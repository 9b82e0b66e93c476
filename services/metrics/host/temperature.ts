/** Temperatures of the host from a mount of its `/sys`. @module */

/** Sensors of the kernel: directories, and the files with a temperature in each. */
const SENSORS = [
  { directory: "class/hwmon", files: /^temp\d+_input$/ },
  { directory: "class/thermal", files: /^temp$/ },
];

/** Limits of what a sensor can mean; unconnected ones report nonsense. In degrees Celsius. */
const LOWEST = -60;
const HIGHEST = 200;

/** Limit of sensors that are read. */
const SENSORS_MAX = 200;

/** The files with a temperature in thousandths of a degree. Empty if the host shows no sensor. */
export async function findSensors(sysPath: string): Promise<string[]> {
  const found: string[] = [];
  for (const { directory, files } of SENSORS) {
    for (const device of await namesIn(`${sysPath}/${directory}`)) {
      for (const name of await namesIn(`${sysPath}/${directory}/${device}`)) {
        if (files.test(name)) found.push(`${sysPath}/${directory}/${device}/${name}`);
      }
    }
  }
  return found.sort().slice(0, SENSORS_MAX);
}

/** The highest temperature in degrees Celsius; `undefined` if no sensor can be read. */
export async function readTemperature(sensors: readonly string[]): Promise<number | undefined> {
  const texts = await Promise.all(
    // A sensor of a device that sleeps cannot be read.
    sensors.map((path) => Deno.readTextFile(path).catch(() => "")),
  );
  const degrees = texts.filter((text) => /^-?\d+\s*$/.test(text))
    .map((text) => Math.round(Number(text) / 100) / 10)
    .filter((value) => value >= LOWEST && value <= HIGHEST);
  return degrees.length === 0 ? undefined : Math.max(...degrees);
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await Array.fromAsync(Deno.readDir(directory), ({ name }) => name);
  } catch {
    return [];
  }
}
