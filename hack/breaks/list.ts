// The breaks on purpose of the journeys in test/web.
import type { Break } from './break.ts';
import { entering } from './entering.ts';
import { everywhere } from './everywhere.ts';
import { finding } from './finding.ts';
import { playing } from './playing.ts';

export const breaks: readonly Break[] = [...entering, ...finding, ...playing, ...everywhere];
