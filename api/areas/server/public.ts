export { describe, describedAreas } from './description.ts';
export { notReadyFor } from './health.ts';
export { fullVersion } from './version.ts';
