import { setImmediate as breath } from 'node:timers/promises';
import type { JobPayload } from '#platform/jobs.ts';
import { copyLine } from '#platform/spine/copy-row.ts';
import { type Head, PackRefused } from '#platform/spine/manifest.ts';
import { blockLines, packRow, type Ranges } from '#platform/spine/pack.ts';
import { findPack, putPack } from '#platform/spine/packs.store.ts';
import {
  copyFrom,
  copyWorks,
  countWorks,
  indexes,
  indexPartition,
  makePartition,
  switchPartitions,
} from '#platform/spine/partitions.store.ts';
import { rowKey } from '#platform/spine/work.ts';
import { FinalFailure, type Work } from '../work.ts';

const AT_ONCE = 200;
/** Kept with each checkpoint; a delta that withdraws more is better a whole pack. */
const MOST_GONE = 100_000;

/** The place that an ended attempt reached. */
export interface Progress {
  phase: 'fetching' | 'verifying' | 'loading' | 'indexing' | 'switching';
  /** Of the partition. */
  number: number;
  /** Blocks that are loaded. */
  blocks: number;
  /** Key of the last row, behind which the next one stands. */
  last: string;
  gone: string[];
}

interface Loading {
  work: Work;
  given: JobPayload<'spine.import'>;
  head: Head;
  read: Ranges;
  progress: Progress;
}

/** Loads a pack behind the last checkpoint, and switches to it. Returns its rows by kind. */
export async function loadPack(loading: Loading): Promise<Record<string, number>> {
  const { work, head, progress } = loading;
  const { db } = work;
  if (progress.phase === 'fetching') {
    await makePartition(db, progress.number);
    await step(loading, 'loading');
  }
  if (progress.phase === 'loading') await loadBlocks(loading);
  for (const index of indexes) {
    work.signal.throwIfAborted();
    await db.transaction((tx) => indexPartition(tx, progress.number, index));
  }
  const works = await db.transaction((tx) => countWorks(tx, progress.number));
  await step(loading, 'switching');
  await db.transaction(async (tx) => {
    const before = await findPack(tx, { name: head.manifest.name });
    refuseOtherBase(head, before?.version);
    const { packId: id, importedBy } = loading.given;
    await switchPartitions(tx, { add: progress.number, ...(before && { drop: before.number }) });
    await putPack(tx, { id, number: progress.number, head, works, importedBy });
  });
  return works;
}

function refuseOtherBase({ manifest: { base } }: Head, version: string | undefined): void {
  if (base !== undefined && base !== version)
    throw new FinalFailure('delta-base-missing', `the delta needs version ${base}`);
}

const step = async ({ work, head, progress }: Loading, phase: Progress['phase']): Promise<void> => {
  progress.phase = phase;
  const { length: total } = head.manifest.blocks;
  await work.keep(work.db, progress, { done: progress.blocks, total: total + 1, unit: 'items' });
};

/** Each block and the checkpoint behind it are one transaction. */
async function loadBlocks(loading: Loading): Promise<void> {
  const { work, head, read, progress } = loading;
  const { blocks, name, base } = head.manifest;
  while (progress.blocks < blocks.length) {
    work.signal.throwIfAborted();
    const lines = await blockLines(read, head, progress.blocks);
    const next = { ...progress, gone: [...progress.gone], blocks: progress.blocks + 1 };
    await work.db.transaction(async (tx) => {
      await tx.raw('set local statement_timeout = 0');
      await copyWorks(tx, progress.number, copyLines(lines, next));
      await work.keep(tx, next, { done: next.blocks, total: blocks.length + 1, unit: 'items' });
    });
    Object.assign(progress, next);
  }
  const older = base === undefined ? undefined : await findPack(work.db, { name });
  refuseOtherBase(head, older?.version);
  await work.db.transaction(async (tx) => {
    if (older) await copyFrom(tx, progress.number, { pack: older.number, gone: progress.gone });
    progress.phase = 'indexing';
    await work.keep(tx, progress, { done: blocks.length, total: blocks.length + 1, unit: 'items' });
  });
}

/** Rows in the order of their keys, so that none is there twice. Other work of the process goes on between them. */
async function* copyLines(lines: readonly string[], progress: Progress): AsyncGenerator<string> {
  for (let at = 0; at < lines.length; at += AT_ONCE) {
    let text = '';
    for (const line of lines.slice(at, at + AT_ONCE)) {
      const row = packRow(line);
      const key = rowKey(row);
      if (key <= progress.last) throw new PackRefused('invalid-row', 'the rows are not in order');
      progress.last = key;
      if ('gone' in row) progress.gone.push(key);
      else text += copyLine(row);
    }
    if (progress.gone.length > MOST_GONE) throw new PackRefused('invalid-row', 'too many works are withdrawn');
    yield text;
    await breath();
  }
}
