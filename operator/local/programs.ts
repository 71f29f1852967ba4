import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of the first of these names that is a program on the PATH. */
export function findProgram(names: readonly string[], path = process.env.PATH ?? ''): string | undefined {
  const places = path.split(delimiter).filter(Boolean);
  return names.flatMap((name) => places.map((place) => join(place, name))).find(executable);
}

export const isProgram = (name: string): boolean => findProgram([name]) !== undefined;

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
