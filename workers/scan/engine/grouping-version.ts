import { PROBE_VERSION } from '#workers/probe/probe.ts';

/** Incremented when the grouping rules change. */
const GROUPING = 4;
const VERSION = `${PROBE_VERSION}.${GROUPING}`;

/** The version of the rules for a library; another one makes every content signature differ. */
export const versionOf = ({ own }: { own?: { version: number } | undefined }): string =>
  own ? `${VERSION}.${own.version}` : VERSION;
