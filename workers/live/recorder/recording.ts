// One recording while it runs.
import type { HeldRecording, RecordingRow } from '#areas/live-tv/public.ts';
import { copyPart, listParts } from '#platform/live/parts.ts';
import { type LiveSegment, listSegments, segmentEnd } from '#platform/live/segments.ts';
import { ObjectMissing } from '#platform/objects.ts';
import { rowsOf } from '#platform/rows.ts';
import type { WorkerDeps } from '#workers/work.ts';
import { type Coverage, coverageOf, type Outage, type Window } from './coverage.ts';
import { holdSlot, type Missing } from './slot.ts';

export interface Limits {
  /** With less of the programme a recording has failed. */
  leastMs: number;
  /** The last segments come so long after their time. */
  settleMs: number;
  /** Pause between tries of all sources. */
  retryMs: number;
}

export const LIMITS: Limits = { leastMs: 60_000, settleMs: 15_000, retryMs: 5000 };

/** With more of the programme missing a recording is partial. */
export const MOST_GAPS_MS = 10_000;

/** The wanted part of the broadcast, Unix ms. */
export function windowOf({ planned_from: from, planned_to: to, stop_at: stop, ...row }: RecordingRow): Window {
  const fromMs = (from ?? row.start_at).getTime();
  const toMs = (to ?? row.end_at).getTime();
  const starts = row.from_buffer ? fromMs : Math.max(fromMs, row.created_at.getTime());
  return { fromMs: starts, toMs: Math.max(starts, Math.min(toMs, stop?.getTime() ?? toMs)) };
}

/** Copies the segments of a channel as they come. What it knows is read again from the store after a worker took over. */
export class RunningRecording {
  readonly #deps: WorkerDeps;
  readonly #limits: Limits;
  #parts: Map<number, LiveSegment> | undefined;
  #triedAt = 0;
  missing: Missing | undefined;

  constructor(deps: WorkerDeps, limits: Limits) {
    this.#deps = deps;
    this.#limits = limits;
  }

  get parts(): LiveSegment[] {
    return [...(this.#parts?.values() ?? [])].sort((a, b) => a.sequence - b.sequence);
  }

  /** One round: keeps the channel tuned until its end, and copies. True once everything is there that will come. */
  async round(row: HeldRecording): Promise<boolean> {
    const { channel_id: channelId } = row;
    if (channelId === null) return true;
    const window = windowOf(row);
    const nowMs = row.now.getTime();
    if (nowMs < window.toMs) await this.#tune(channelId);
    await this.#copy(row.id, { channelId, window });
    const last = this.parts.at(-1);
    const isWhole = last !== undefined && segmentEnd(last) >= window.toMs;
    return nowMs >= window.toMs && (isWhole || nowMs >= window.toMs + this.#limits.settleMs);
  }

  /** A programme that was on air already counts from what the buffer held of it. */
  async coverage(row: HeldRecording, untilMs: number): Promise<Coverage> {
    const { parts } = this;
    const window = windowOf(row);
    const created = row.created_at.getTime();
    const first = parts[0]?.startMs ?? untilMs;
    const fromMs = created > window.fromMs ? Math.max(window.fromMs, Math.min(created, first)) : window.fromMs;
    const toMs = Math.min(window.toMs, untilMs);
    return coverageOf(parts, { fromMs, toMs: Math.max(fromMs, toMs) }, await this.#outages(row.channel_id, window));
  }

  async #tune(channelId: string): Promise<void> {
    const soon = this.missing !== undefined && Date.now() - this.#triedAt < this.#limits.retryMs;
    if (soon) return;
    this.#triedAt = Date.now();
    this.missing = await holdSlot(this.#deps, channelId);
  }

  async #copy(recordingId: string, { channelId, window }: { channelId: string; window: Window }): Promise<void> {
    this.#parts ??= new Map((await listParts(this.#deps, recordingId)).map((part) => [part.sequence, part]));
    for (const segment of await listSegments(this.#deps, channelId, window)) {
      const known = this.#parts.get(segment.sequence);
      if (known && known.epoch >= segment.epoch) continue;
      const copied = await copyPart(this.#deps, { recordingId, channelId }, segment).then(
        () => true,
        (error: unknown) => {
          if (error instanceof ObjectMissing) return false; // it left the buffer
          throw error;
        },
      );
      if (copied) this.#parts.set(segment.sequence, segment);
    }
  }

  async #outages(channelId: string | null, { fromMs, toMs }: Window): Promise<Outage[]> {
    const rows = await rowsOf<{ from_at: Date; to_at: Date | null; reason: string }>(
      this.#deps.db,
      `select from_at, to_at, reason from live_outages
        where channel_id = ? and from_at < ? and coalesce(to_at, now()) > ? order by from_at`,
      [channelId, new Date(toMs), new Date(fromMs)],
    );
    return rows.map((one) => ({
      fromMs: one.from_at.getTime(),
      toMs: (one.to_at ?? new Date()).getTime(),
      reason: one.reason,
    }));
  }
}
