import { may } from '#identity/principal.ts';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { requestScan } from './request-scan.ts';
import { toIssue, toScan } from './scan-view.ts';
import { Scan, ScanDecision, ScanQuery, ScansQuery, StartScan, scanSorts } from './scanning.schemas.ts';
import {
  type GuardRow,
  getScanRow,
  keepAbsent,
  listIssues,
  lockScanRow,
  requestCancel,
  type ScanRow,
  saveGuard,
  selectScans,
  storagesOf,
} from './scans.store.ts';
import { refuseUnavailable, startScanOf } from './start.ts';

export const startScan = defineEndpoint({
  operationId: 'startScan',
  method: 'post',
  path: '/libraries/:id/scan',
  summary: 'Scan a library or some of its directories',
  description:
    'Returns 200 with the queued or running scan when it covers the request; otherwise a queued scan is extended or a new one is created. A directory may be scanned by its path alone. When every requested storage is unavailable the response is 423; when only some are, those are skipped. A library without folders is 409 `no-folders`.',
  access: { permission: 'scan:trigger' },
  params: IdParams,
  body: StartScan,
  optionalBody: true,
  answer: json(202, Scan),
  errors: ['CONFLICT', 'STORAGE_UNAVAILABLE'],
  emits: ['library.scan.started', 'library.scan.progress', 'library.scan.completed', 'library.scan.failed'],

  async handle({ params, body }, call) {
    const { id, covered } = await startScanOf(call, params.id, body);
    if (covered) call.reply.status(200);
    return toScan(call, await getScanRow(call.db, call.who, id));
  },
});

export const listScans = defineEndpoint({
  operationId: 'listScans',
  method: 'get',
  path: '/scans',
  summary: 'List scans, newest first',
  description:
    'Covers the libraries that the caller may see. `guard=pending` selects scans that wait for a decision on removals.',
  access: { permission: 'library:view' },
  query: ScansQuery,
  answer: page(Scan),

  async handle({ query }, call) {
    const { db, who, deps } = call;
    const { cursor, limit, sort, ...filter } = query;
    const found = await pageOf<ScanRow, ScanRow>(db, selectScans(db, who, filter), {
      keys: deps.keys,
      terms: parseSort(sort, scanSorts, '-queuedAt'),
      cursor,
      limit,
      scope: JSON.stringify(['listScans', who.accountId, filter]),
      idColumn: 's.id',
      toItem: (row) => row,
    });
    const items: Scan[] = [];
    for (const row of found.items) items.push(await toScan(call, row));
    return { items, page: found.page };
  },
});

export const getScan = defineEndpoint({
  operationId: 'getScan',
  method: 'get',
  path: '/scans/:id',
  summary: 'Read a scan',
  description:
    'The counts of a running scan are at most a second old, or those of its last checkpoint when Redis is unavailable. `include=issues` needs `library:manage` and returns the first 500 issues.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: ScanQuery,
  answer: json(200, Scan),

  async handle({ params, query }, call) {
    const scan = await toScan(call, await getScanRow(call.db, call.who, params.id));
    if (!query.include || !may(call.who, 'library:manage')) return scan;
    return { ...scan, issues: (await listIssues(call.db, scan.id)).map(toIssue) };
  },
});

export const cancelScan = defineEndpoint({
  operationId: 'cancelScan',
  method: 'post',
  path: '/scans/:id/cancel',
  summary: 'Cancel a scan',
  description:
    'A running scan stops within 5 seconds. Added items stay, and no file is marked as missing. Cancelling a finished scan changes nothing and is 200.',
  access: { permission: 'scan:trigger' },
  params: IdParams,
  answer: json(200, Scan),

  async handle({ params }, call) {
    const { db, who, now } = call;
    const row = await lockScanRow(db, who, params.id);
    if (row.state === 'queued' || row.state === 'running') await requestCancel(db, row, now);
    return toScan(call, await getScanRow(db, who, row.id));
  },
});

export const decideScanRemovals = defineEndpoint({
  operationId: 'decideScanRemovals',
  method: 'put',
  path: '/scans/:id/removals',
  summary: 'Decide whether files that a scan missed are gone',
  description:
    '`apply` lists the held folders again and marks files that are still absent as missing. `keep` leaves the items unchanged; only a larger loss needs another decision. 409 reasons are `no-pending-guard` and `superseded` (a later scan waits for the decision); an unavailable storage is 423.',
  access: { permission: 'library:manage' },
  params: IdParams,
  body: ScanDecision,
  answer: json(200, Scan),
  errors: ['CONFLICT', 'STORAGE_UNAVAILABLE'],
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    const { db, who } = call;
    const row = await lockScanRow(db, who, params.id);
    const guard = pendingGuard(row);
    await decide(call, row, { guard, decision: body.decision });
    return toScan(call, await getScanRow(db, who, row.id));
  },
});

function pendingGuard({ guard }: ScanRow): GuardRow {
  if (guard?.supersededBy)
    throw conflict('superseded', 'A later scan waits for a decision on more files', { scanId: guard.supersededBy });
  if (guard?.decision !== 'pending') throw conflict('no-pending-guard', 'No removals wait for a decision');
  return guard;
}

/** `apply` lists the held folders again, in a scan without a guard for them. */
async function decide(
  call: Call,
  row: ScanRow,
  { guard, decision }: { guard: GuardRow; decision: 'apply' | 'keep' },
): Promise<void> {
  const { db, who, now } = call;
  if (decision === 'keep') {
    await keepAbsent(db, guard.folderIds);
  } else {
    await refuseUnavailable(call, await storagesOf(db, guard.folderIds));
    const targets = guard.folderIds.map((folderId) => ({ folderId }));
    await requestScan(db, {
      libraryId: row.library_id,
      mode: 'full',
      trigger: 'person',
      byAccountId: who.accountId,
      targets,
    });
  }
  await saveGuard(db, row.id, { ...guard, decision, decidedBy: who.accountId, decidedAt: now.toISOString() });
}
