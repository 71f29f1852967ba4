import { PROBE_VERSION } from '#workers/probe/probe.ts';

/** Grows when names are grouped otherwise. */
const GROUPING = 3;
export const VERSION = `${PROBE_VERSION}.${GROUPING}`;
