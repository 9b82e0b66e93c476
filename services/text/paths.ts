/** Absolute, normalised paths. @module */

/** Whether a path is a directory or in it. */
export const isInside = (path: string, directory: string): boolean =>
  directory === "/" || path === directory || path.startsWith(`${directory}/`);
