// The recorder: every worker holds some of the recordings, by a lease of ten seconds. What it has not copied waits in the buffer of the
// channel, so the next worker loses nothing.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  beginRecording,
  type Ending,
  endRecording,
  failConflicts,
  finishOf,
  type HeldRecording,
  holdRecordings,
  markCleared,
  noteCaught,
  noteReason,
  releaseRecordings,
} from '#areas/live-tv/public.ts';
import type { Db } from '#platform/db.ts';
import { removeParts } from '#platform/live/parts.ts';
import { clearPastYields } from '#platform/live/yielding.store.ts';
import { enqueue } from '#platform/queue.ts';
import type { WorkerDeps } from '#workers/work.ts';
import { type Coverage, gapsMs } from './coverage.ts';
import { endItem, giveItem } from './item.ts';
import { notifyOwner } from './notices.ts';
import { LIMITS, type Limits, MOST_GAPS_MS, RunningRecording, windowOf } from './recording.ts';
import { prepareSlot } from './slot.ts';
import { makeSpace } from './space.ts';

const EVERY_MS = 2000;
const NOTE_EVERY_MS = 5000;
/** A start that is later means that no worker ran. */
const LATE_MS = 20_000;

interface Held {
  running: RunningRecording;
  notedAt: number;
  /** Its item was made, or cannot be. */
  hasItem: boolean;
  busy: Promise<void> | undefined;
}

export class Recorder {
  readonly #deps: WorkerDeps;
  readonly #limits: Limits;
  readonly #held = new Map<string, Held>();

  constructor(deps: WorkerDeps, limits: Limits = LIMITS) {
    this.#deps = deps;
    this.#limits = limits;
  }

  /** Records until the signal; then other workers take over at once. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look().catch((error: unknown) =>
        this.#deps.log.warn({ err: error }, 'recordings were not looked after'),
      );
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
    await Promise.allSettled([...this.#held.values()].map(async ({ busy }) => busy));
    await releaseRecordings(this.#deps.db, this.#holder).catch(() => undefined);
  }

  get #holder(): string {
    return this.#deps.config.pod;
  }

  /** Each recording has a round of its own: one that waits for its tuner or the store delays no other. */
  async look(): Promise<void> {
    const { db, log } = this.#deps;
    const rows = await holdRecordings(db, this.#holder);
    for (const id of this.#held.keys()) if (!rows.some((row) => row.id === id)) this.#held.delete(id);
    if (rows.length > 0) await clearPastYields(db);
    for (const row of rows) {
      const held = this.#of(row.id);
      held.busy ??= this.#round(row, held)
        .catch((error: unknown) => log.warn({ err: error, recording: row.id }, 'a recording waits'))
        .finally(() => {
          held.busy = undefined;
        });
    }
    for (const row of await failConflicts(db))
      await db.transaction((tx) => notifyOwner(tx, row, { kind: 'recording-failed' }));
  }

  #of(id: string): Held {
    const known = this.#held.get(id);
    if (known) return known;
    const held = {
      running: new RunningRecording(this.#deps, this.#limits),
      notedAt: 0,
      hasItem: false,
      busy: undefined,
    };
    this.#held.set(id, held);
    return held;
  }

  async #round(row: HeldRecording, held: Held): Promise<void> {
    if (row.state === 'cancelled') return this.#discard(row);
    if (row.planned_from !== null && row.planned_from > row.now) return prepareSlot(this.#deps, row);
    if (row.state === 'scheduled' && !(await this.#begin(row))) return;
    await this.#item(row, held);
    const isOver = await held.running.round(row);
    if (isOver) return this.#end(row, held.running);
    if (Date.now() - held.notedAt < NOTE_EVERY_MS) return;
    held.notedAt = Date.now();
    await this.#note(row, held.running);
  }

  /** A recording goes on without its item, which its file brings then. */
  async #item(row: HeldRecording, held: Held): Promise<void> {
    if (held.hasItem) return;
    held.hasItem = await giveItem(this.#deps, row).then(
      () => true,
      (error: unknown) => {
        this.#deps.log.warn({ err: error, recording: row.id }, 'a recording has no item yet');
        return false;
      },
    );
  }

  /** False while there is no space: it is tried again until the end of the programme. */
  async #begin(row: HeldRecording): Promise<boolean> {
    if (await makeSpace(this.#deps, row)) return beginRecording(this.#deps.db, row);
    if (windowOf(row).toMs > row.now.getTime()) return false;
    await this.#finish(row, { state: 'failed', reason: 'disk-full' }, NOTHING);
    return false;
  }

  async #note(row: HeldRecording, running: RunningRecording): Promise<void> {
    const { db } = this.#deps;
    const { parts } = running;
    const last = parts.at(-1);
    // What the tuner has not stored yet is no gap.
    const covered = await running.coverage(row, last ? last.startMs + last.durationMs : 0);
    await noteCaught(db, row.id, { ...covered, lastSequence: last?.sequence ?? null });
    const reason = running.missing ?? null;
    if (reason !== row.state_reason) await noteReason(db, row.id, reason);
  }

  async #end(row: HeldRecording, running: RunningRecording): Promise<void> {
    const covered = await running.coverage(row, Number.POSITIVE_INFINITY);
    await this.#finish(row, this.#endingOf(row, covered, running), covered);
  }

  #endingOf(row: HeldRecording, { recordedMs, gaps }: Coverage, { missing }: RunningRecording): Ending {
    const late = wasLate(row) ? ('server-down' as const) : undefined;
    if (recordedMs < this.#limits.leastMs)
      return { state: 'failed', reason: late ?? missing ?? row.state_reason ?? 'no-signal' };
    if (wasStopped(row)) return { state: 'partial', reason: 'stopped' };
    if (gapsMs(gaps) <= MOST_GAPS_MS) return { state: 'completed', reason: null };
    return { state: 'partial', reason: late ?? 'gaps' };
  }

  async #finish(row: HeldRecording, ending: Ending, covered: Coverage): Promise<void> {
    const { db } = this.#deps;
    await db.transaction(async (tx) => {
      if (!(await endRecording(tx, row, { ...ending, ...covered, lastSequence: row.last_sequence }))) return;
      if (covered.recordedMs > 0) await enqueue(tx, 'live.finish', finishOf(row));
      else await this.#clear(tx, row);
      if (ending.state === 'failed') await notifyOwner(tx, row, { kind: 'recording-failed' });
    });
    this.#held.delete(row.id);
  }

  async #clear(tx: Db, row: HeldRecording): Promise<void> {
    await endItem(tx, row.id);
    await markCleared(tx, row.id);
  }

  async #discard(row: HeldRecording): Promise<void> {
    await removeParts(this.#deps, row.id);
    await this.#deps.db.transaction((tx) => this.#clear(tx, row));
    this.#held.delete(row.id);
  }
}

/** It began so long after its time that no worker can have run. */
function wasLate(row: HeldRecording): boolean {
  const started = (row.started_at ?? row.now).getTime();
  return started - Math.max(windowOf(row).fromMs, row.created_at.getTime()) > LATE_MS;
}

const wasStopped = ({ stop_at: stop, planned_to: to }: HeldRecording): boolean =>
  stop !== null && to !== null && stop < to;

const NOTHING: Coverage = { recordedMs: 0, sizeBytes: 0, gaps: [] };
