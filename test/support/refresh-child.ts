// Refreshes the items of a library in a process of its own, which a test kills: `node refresh-child.ts <libraryId>`.
import { readConfig } from '#platform/config.ts';
import { newId } from '#platform/ids.ts';
import { createLog } from '#platform/log.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { createRefresh } from '#workers/metadata/refresh.ts';
import { Postponed } from '#workers/work.ts';
import { connectDeps } from '../../api/deps.ts';
import { localCatalogues } from './catalogues/local.ts';

const [libraryId = ''] = process.argv.slice(2);
const never = new AbortController().signal;
const deps = await connectDeps(readConfig(), createLog('silent', 'child'), never);
const none = {
  jobId: newId(),
  attempt: 1,
  checkpoint: null,
  keep: async () => undefined,
  report: async () => undefined,
};
const refresh = createRefresh((work) => localCatalogues(work));
process.stdout.write('refreshing\n');
await refresh({ libraryId }, { ...deps, ...none, signal: never, emit, enqueue }).catch((error: unknown) => {
  if (!(error instanceof Postponed)) throw error;
});
process.exit(0);
