import { PROBE_VERSION } from '#workers/probe/probe.ts';

/** Incremented when the grouping rules change. */
const GROUPING = 4;
export const VERSION = `${PROBE_VERSION}.${GROUPING}`;
