/** Runs one scan in a process of its own, which a test kills: `node scan-child.ts <libraryId> <scanId>`. */

import { readConfig } from '#platform/config.ts';
import { newId } from '#platform/ids.ts';
import { createLog } from '#platform/log.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import { connectDeps } from '../../../api/deps.ts';

const [libraryId = '', scanId = ''] = process.argv.slice(2);
const config = readConfig();
const never = new AbortController().signal;
const deps = await connectDeps(config, createLog('silent', 'child'), never);
await scanLibrary(
  { libraryId, scanId },
  {
    ...deps,
    jobId: newId(),
    attempt: 1,
    signal: never,
    checkpoint: null,
    keep: async () => undefined,
    report: async () => undefined,
    emit,
    enqueue,
  },
  { settleMs: 0, concurrency: 1 },
);
process.exit(0);
