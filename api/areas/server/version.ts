import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export const fullVersion = version;
/** The version that anonymous callers get: major.minor. */
export const shortVersion = version.split('.').slice(0, 2).join('.');
