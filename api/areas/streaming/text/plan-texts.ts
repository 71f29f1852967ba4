import { createHash } from 'node:crypto';
import type { Db } from '#platform/db.ts';
import { findSyncs, type Sync } from '#platform/subtitles/syncs.ts';
import { isAsMade } from '#platform/subtitles/timing.ts';
import {
  type BurnIn,
  MAX_SUBTITLES,
  type StreamOptions,
  type StreamPlan,
  type SubtitleOptions,
} from '../segments/plan.ts';
import { findKeptKeys } from './kept-texts.view.ts';

/** Adds to the options of a plan where kept texts are, and the correction of a text that is drawn into the picture. */
export async function withTexts(db: Db, options: StreamOptions): Promise<StreamOptions> {
  const burned = (options.video ?? []).flatMap(({ burnIn }) => burnIn?.streamId ?? []);
  const kept = await findKeptKeys(db, [...burned, ...options.subtitles.map(({ streamId }) => streamId)]);
  const syncs = await findSyncs(db, [...new Set(burned)]);
  return {
    ...options,
    ...(options.video && {
      video: options.video.map((one) => (one.burnIn ? { ...one, burnIn: burnedOf(one.burnIn, kept, syncs) } : one)),
    }),
    subtitles: options.subtitles.map((one) => keptTrack(one, kept.get(one.streamId))),
  };
}

function keptTrack(track: SubtitleOptions, key: string | undefined): SubtitleOptions {
  if (key === undefined) return track;
  const { streamIndex: _none, ...rest } = track;
  return { ...rest, keptKey: key };
}

function burnedOf(burnIn: BurnIn, kept: ReadonlyMap<string, string>, syncs: ReadonlyMap<string, Sync>): BurnIn {
  const [key, sync] = [kept.get(burnIn.streamId ?? ''), syncs.get(burnIn.streamId ?? '')];
  const timing =
    sync && !isAsMade(sync) ? { offsetMs: sync.offsetMs, rate: sync.rate, pieces: sync.pieces } : undefined;
  return { ...burnIn, ...(key && { keptKey: key }), ...(timing && { timing }) };
}

/** What players see of the texts of a plan: it changes when one comes, goes, or has other times. */
export async function textsRevision(db: Db, { subtitles }: StreamPlan): Promise<string | undefined> {
  if (subtitles.length === 0) return undefined;
  const syncs = await findSyncs(
    db,
    subtitles.map(({ streamId }) => streamId),
  );
  const seen = subtitles.map((one) => [one.id, one.default, one.removed ?? false, syncs.get(one.streamId)?.version]);
  return createHash('sha256').update(JSON.stringify(seen)).digest('base64url').slice(0, 12);
}

/** True when only texts, and the place where it begins, are different. */
export function differsInTextsAlone(before: StreamPlan, after: StreamPlan): boolean {
  const rest = ({ subtitles: _texts, startMs: _start, ...plan }: StreamPlan): string => canonical(plan);
  return rest(before) === rest(after);
}

/** JSON with sorted members, because Postgres keeps no order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

/** The texts of a plan that is in use: those that are there keep their number, new ones come at the end. */
export function renewedTexts(before: StreamPlan, after: StreamPlan): StreamPlan {
  const now = new Map(after.subtitles.map((one) => [one.streamId, one]));
  const known = before.subtitles.map(({ removed: _was, ...one }) => {
    const current = now.get(one.streamId);
    now.delete(one.streamId);
    return current ? { ...one, default: current.default } : { ...one, default: false, removed: true };
  });
  const added = [...now.values()].slice(0, Math.max(MAX_SUBTITLES - known.length, 0));
  return {
    ...before,
    subtitles: [...known, ...added.map((one, i) => ({ ...one, id: `s${known.length + i}` }))],
  };
}
