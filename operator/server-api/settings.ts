// Which of the settings that a resource declares the server goes by.
import type { Ask } from './server-client.ts';

export interface ObservedSettings {
  /** All that this version has. */
  known: readonly string[];
  /** Those in force as the resource says. */
  inForce: readonly string[];
}

interface Listed {
  items?: { key: string; source: string }[];
}

/** Undefined where the server does not tell. Throws Unreachable. */
export async function settingsFrom(ask: Ask): Promise<ObservedSettings | undefined> {
  const { status, body } = await ask('GET', '/settings');
  const { items } = (body ?? {}) as Listed;
  if (status !== 200 || !items) return undefined;
  const declared = items.filter(({ source }) => source === 'resource');
  return { known: items.map(({ key }) => key), inForce: declared.map(({ key }) => key) };
}

/** What to say of declared ones that the server leaves out: those with a value that it does not take, and those that it does not have. */
export function leftOut(declared: readonly string[], { known, inForce }: ObservedSettings) {
  const absent = declared.filter((key) => !inForce.includes(key));
  return {
    refused: absent.filter((key) => known.includes(key)),
    unknown: absent.filter((key) => !known.includes(key)),
  };
}
